import { randomUUID } from 'node:crypto';
import { discard } from '@ethosagent/policy';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { assertServeOptions } from './assert-options.js';
import { ClientConnection } from './client-connection.js';
import type { McpServeOptions, McpSessionSettings, ServedRuntime } from './served-runtime.js';
import { takeStdout } from './take-stdout.js';
import { WholeLines } from './whole-lines.js';

export interface ServeStdioOptions extends McpServeOptions, McpSessionSettings {
  /**
   * The session of the client. The same id in a later process goes on with what is stored of it:
   * what was read, what waits, what was granted. A random one when absent.
   */
  sessionId?: string;
}

/** The client of a program that it started. */
export interface McpStdioServer {
  /** The session of the client. */
  readonly sessionId: string;
  /** Settles when the client has closed the input, or `close` was called, and nothing of it runs. */
  readonly closed: Promise<void>;
  /** Ends the session, and gives the standard output back. */
  close(): Promise<void>;
}

/**
 * Serves the tools of a personality to the client that started this program, over its standard
 * input and output. Until the end, everything else that is written to `process.stdout`, for example
 * by `console.log`, goes to the standard error.
 *
 * @param runtime whose tools are served
 * @param options the session id, the personality, and limits
 * @returns the server
 * @throws `CONFIG_INVALID` for a session id, a personality or a setting that is not valid
 */
export async function serveStdio(
  runtime: ServedRuntime,
  options: ServeStdioOptions = {},
): Promise<McpStdioServer> {
  const { sessionId = `mcp-${randomUUID()}`, personality, identity, limits, ...rest } = options;
  assertServeOptions(rest);
  await runtime.personality(personality);
  const connection = new ClientConnection({
    runtime,
    sessionId,
    client: 'stdio',
    settings: {
      identity: { platform: 'mcp', ...identity },
      ...(personality !== undefined && { personality }),
      ...(limits !== undefined && { limits }),
    },
    options: rest,
  });
  const { stdin } = process;
  const stdout = takeStdout();
  const lines = stdin.pipe(new WholeLines());
  const close = () => connection.close();
  const onEnd = () => discard(close());
  stdin.once('end', onEnd).once('close', onEnd);
  // The client is gone, and reads nothing any more.
  stdout.stream.once('error', onEnd);
  const closed = connection.ended.finally(() => {
    stdin.off('end', onEnd).off('close', onEnd);
    stdin.unpipe(lines);
    stdout.giveBack();
  });
  await connection.connect(new StdioServerTransport(lines, stdout.stream));
  if (stdin.readableEnded || stdin.destroyed) onEnd();
  return { sessionId, closed, close };
}

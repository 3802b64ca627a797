import { randomUUID } from 'node:crypto';
import { assertOptions, discard, type OptionNames } from '@ethosagent/policy';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { assertRuntime, assertServeOptions, sessionSettings } from './assert-options.js';
import { ClientConnection } from './client-connection.js';
import { UniqueIdsTransport } from './request-ids.js';
import type { McpServeOptions, McpSessionSettings, ServedRuntime } from './served-runtime.js';
import { takeStdout } from './take-stdout.js';
import { WholeLines } from './whole-lines.js';

export interface ServeStdioOptions extends McpServeOptions, McpSessionSettings {
  /**
   * The id of the client's session. The same id in a later process continues the stored session:
   * what it has read, its waiting calls, and its grants. A random id when absent.
   */
  sessionId?: string;
}

/** A server for the client that started this program. */
export interface McpStdioServer {
  /** The id of the client's session. */
  readonly sessionId: string;
  /**
   * Settles when the client has closed the input or `close` was called, and nothing of the session
   * runs any more.
   */
  readonly closed: Promise<void>;
  /** Ends the session, and restores the standard output. */
  close(): Promise<void>;
}

const OPTIONS: OptionNames<ServeStdioOptions> = {
  name: true,
  version: true,
  instructions: true,
  approvals: true,
  approvalTimeoutMs: true,
  toolsCheckMs: true,
  maxCallsAtOnce: true,
  onWaiting: true,
  personality: true,
  identity: true,
  limits: true,
  sessionId: true,
};

/**
 * Serves the tools of a personality to the client that started this program, over its standard
 * input and output. Until the session ends, everything else that is written to `process.stdout`,
 * for example by `console.log`, goes to the standard error.
 *
 * @param runtime the runtime with the tools
 * @param options the session id, the personality, and limits
 * @returns the server, which is connected
 * @throws `CONFIG_INVALID` for an invalid session id, personality or setting
 */
export async function serveStdio(
  runtime: ServedRuntime,
  options: ServeStdioOptions = {},
): Promise<McpStdioServer> {
  assertRuntime('serveStdio', runtime);
  assertOptions('serveStdio', options, OPTIONS);
  const { sessionId = `mcp-${randomUUID()}`, personality, identity, limits, ...rest } = options;
  assertServeOptions(rest);
  const given = {
    ...(personality !== undefined && { personality }),
    ...(identity !== undefined && { identity }),
    ...(limits !== undefined && { limits }),
  };
  const settings = await sessionSettings(runtime, given, { platform: 'mcp' });
  const connection = new ClientConnection({
    runtime,
    sessionId,
    client: 'stdio',
    settings,
    options: rest,
  });
  const { stdin } = process;
  const stdout = takeStdout();
  const lines = stdin.pipe(new WholeLines());
  const close = () => connection.close();
  const onEnd = () => discard(connection.drop());
  stdin.once('end', onEnd).once('close', onEnd);
  // The client is gone, and reads nothing any more.
  stdout.stream.once('error', onEnd);
  const closed = connection.ended.finally(() => {
    stdin.off('end', onEnd).off('close', onEnd);
    stdin.unpipe(lines);
    stdout.giveBack();
  });
  const transport = new StdioServerTransport(lines, stdout.stream);
  await connection.connect(new UniqueIdsTransport(transport));
  if (stdin.readableEnded || stdin.destroyed) onEnd();
  return { sessionId, closed, close };
}

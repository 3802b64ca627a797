import { EthosError } from '@ethosagent/types';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createOAuth } from './authorization.js';
import { readMethods } from './client.js';
import type { McpRemoteServer } from './config.js';
import { isLasting } from './connection-failure.js';
import { guardedFetch } from './guarded-fetch.js';
import type { WireOptions } from './process-wire.js';
import { RedactedTransport } from './redacted-transport.js';
import type { ConnectOptions, Wire } from './server-session.js';
import { secretsOf } from './templates.js';
import { unaskedChars } from './token-bucket.js';
import { withDeadline } from './with-deadline.js';

/** Returns the ways to reach a server over HTTP, the best first. */
export async function remoteWires(
  { server, scope, variables }: WireOptions<McpRemoteServer>,
  personality: string | undefined,
  options: ConnectOptions,
): Promise<(() => Wire)[]> {
  const text = await variables.text(server.url);
  const headers = await variables.headers(server.headers);
  const authProvider = await createOAuth({ server, personality, url: text, variables }, options);
  if (variables.missing.length > 0) return [];
  const url = new URL(text);
  const { scopedFetch } = scope;
  if (scopedFetch === undefined) throw new EthosError('NETWORK_FAILED', 'the host has no network');
  const { maxMessageChars, messagesPerSecond } = options.limits;
  const secret =
    authProvider !== undefined || secretsOf([server.url, ...server.headers.values()]).length > 0;
  const open = (kind: 'http' | 'sse') => (): Wire => {
    const ending = new AbortController();
    const unasked = unaskedChars();
    let lost = '';
    let denied: unknown;
    const redact = (said: string) => scope.redact(authProvider?.redact(said) ?? said);
    const fetch = guardedFetch({
      scopedFetch,
      origin: url.origin,
      headers,
      maxMessageChars,
      messagesPerSecond,
      unasked,
      signal: ending.signal,
      settled: (id) => transport.settled(id),
      onBroken: (id) => transport.breakOff(id),
      onAbuse: (why) => {
        lost = why;
        ending.abort();
        void inner.close();
      },
      onFailed: (error) => {
        if (isLasting(error)) denied = error;
      },
    });
    const settings = { fetch, ...(authProvider === undefined ? {} : { authProvider }) };
    const http = kind === 'http' ? new StreamableHTTPClientTransport(url, settings) : undefined;
    const inner = http ?? new SSEClientTransport(url, settings);
    const transport = new RedactedTransport(inner, {
      redact: secret ? redact : undefined,
      reads: readMethods(options),
      unasked,
    });
    return {
      transport,
      why: () => lost,
      redact,
      hasSession: () => http?.sessionId !== undefined,
      denied: () => denied,
      refused: () => '',
      close: async () => {
        // This tells the server to forget the session. It gets a short time to answer.
        if (http?.sessionId !== undefined) {
          await withDeadline(http.terminateSession(), { connectTimeoutMs: 1_000 }).catch(() => {});
        }
        ending.abort();
        await inner.close();
      },
    };
  };
  return server.transport === 'sse' ? [open('sse')] : [open('http'), open('sse')];
}

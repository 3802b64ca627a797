import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { CapabilityError, EthosError, errorCodeOf } from '@ethosagent/types';
import type { FilteringProxy, FilteringProxyOptions } from './filtering-proxy-api.js';
import type { ProxyContext } from './proxy-context.js';
import { forwardRequest } from './proxy-forward.js';
import { MARK_HEADER, markOf } from './proxy-mark.js';
import { targetOf, tunnelTarget } from './proxy-target.js';
import { tunnel } from './proxy-tunnel.js';

const HEADERS_TIMEOUT_MS = 10_000;
const USER = 'ethos';
const CHALLENGE = 'Basic realm="ethos"';

export async function startProxy(options: FilteringProxyOptions): Promise<FilteringProxy> {
  const { guard, socketPath, onAccess, onSpend } = options;
  const end = new AbortController();
  const mark = markOf(guard);
  const context: ProxyContext = {
    guard,
    onAccess,
    onSpend,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    signal: end.signal,
  };
  const credential = socketPath === undefined ? randomBytes(24).toString('base64url') : undefined;
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0 });
  const sockets = new Set<Duplex>();
  server.maxConnections = options.maxConnections ?? 64;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setTimeout(context.idleTimeoutMs, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    if (!isAuthorized(request, credential)) {
      response.writeHead(407, { 'proxy-authenticate': CHALLENGE, connection: 'close' }).end();
      return;
    }
    const run = () =>
      forwardRequest(
        asked(() => targetOf(request), context),
        { from: request, to: response },
        context,
      );
    serve(run, (status, message) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(status, { connection: 'close', [MARK_HEADER]: mark }).end(message);
    });
  });
  server.on('connect', (request, socket, head) => {
    const refuse = (status: number, message: string, header = '') =>
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${header}Connection: close\r\n${MARK_HEADER}: ${mark}\r\n\r\n${message}`,
      );
    if (!isAuthorized(request, credential)) {
      refuse(407, '', `Proxy-Authenticate: ${CHALLENGE}\r\n`);
      return;
    }
    const target = () => asked(() => tunnelTarget(request.url ?? ''), context);
    serve(() => tunnel(target(), { client: socket, head }, context), refuse);
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await listen(server, socketPath);
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    mark,
    url: credential && `http://${USER}:${credential}@127.0.0.1:${port}`,
    async close() {
      end.abort(new EthosError('NETWORK_FAILED', 'the proxy is closed'));
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * Parses the target of a request. If that fails, the guard never sees the request, so the denial is
 * reported here.
 */
function asked(parse: () => URL, { onAccess }: ProxyContext): URL {
  try {
    return parse();
  } catch (error) {
    if (error instanceof CapabilityError) {
      onAccess?.({ url: '', host: '', decision: 'denied', rule: error.rule, entries: {} });
    }
    throw error;
  }
}

/** Handles a request or a tunnel, and tells the client when it fails. */
function serve(run: () => Promise<void>, fail: (status: number, message: string) => void): void {
  new Promise<void>((resolve) => resolve(run())).catch((error: unknown) => {
    const status =
      error instanceof CapabilityError ? 403 : errorCodeOf(error) === 'NETWORK_TIMEOUT' ? 504 : 502;
    // The text of an unknown error may contain anything.
    fail(status, error instanceof EthosError ? error.message : 'the request failed');
  });
}

function isAuthorized({ headers }: IncomingMessage, credential: string | undefined): boolean {
  if (credential === undefined) return true;
  const wanted = Buffer.from(`Basic ${Buffer.from(`${USER}:${credential}`).toString('base64')}`);
  const given = Buffer.from(headers['proxy-authorization'] ?? '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function listen(server: Server, socketPath: string | undefined): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      if (socketPath === undefined) server.listen(0, '127.0.0.1', resolve);
      else server.listen(socketPath, resolve);
    });
    if (socketPath !== undefined) await chmod(socketPath, 0o600);
  } catch (cause) {
    const place = socketPath === undefined ? '127.0.0.1' : socketPath;
    throw new EthosError('CONFIG_INVALID', `the proxy can not listen on ${place}`, { cause });
  }
}

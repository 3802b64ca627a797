import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { errorCodeOf } from '@ethosagent/types';
import { messageOf } from '../cli-error.js';
import { portError } from '../port-option.js';
import { InspectorAccess, isFromHere } from './inspector-access.js';
import type { LiveStreams } from './live-streams.js';
import { pageFile } from './page-files.js';
import { SECURITY_HEADERS } from './security-headers.js';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Answers a request that has the key. The result is sent as JSON. */
export type InspectorRoute = (input: {
  query: URLSearchParams;
  /** The parsed JSON of a POST. */
  body: unknown;
}) => unknown;

export interface InspectorServerOptions {
  /** By method and path, such as `GET /api/state`. */
  routes: Readonly<Record<string, InspectorRoute>>;
  streams: LiveStreams;
  /** If absent, a free port is used. */
  port?: number;
  /** The folder of the built page. */
  pageFolder?: URL;
  /** Called with errors that no route should throw. */
  onDefect(error: unknown): void;
}

/** A server that runs. */
export interface InspectorServer {
  /** With the one-time token in its fragment. */
  url: string;
  /** Such as `http://127.0.0.1:<port>`. */
  origin: string;
  close(): Promise<void>;
}

/**
 * Serves the page and its requests, only on loopback.
 * @throws `CONFIG_INVALID` if the port is taken
 */
export async function startInspectorServer(
  options: InspectorServerOptions,
): Promise<InspectorServer> {
  const access = new InspectorAccess();
  let origin = '';
  const server = createServer((request, response) => {
    answer(request, response, { ...options, access, origin }).catch((error: unknown) => {
      options.onDefect(error);
      if (response.headersSent) response.destroy();
      else
        sendJson(response, 500, { error: { message: 'the inspector failed; see its terminal' } });
    });
  });
  server.listen(options.port ?? 0, HOST);
  await once(server, 'listening').catch((error: unknown) => {
    throw portError(error, options.port);
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  origin = `http://${HOST}:${port}`;
  return {
    url: `${origin}/#token=${access.token}`,
    origin,
    async close() {
      options.streams.close();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

interface Answering extends InspectorServerOptions {
  access: InspectorAccess;
  origin: string;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { access, origin, routes, streams, pageFolder }: Answering,
): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  const { method = '', url = '' } = request;
  // The path is not parsed as a URL: a part that looks like a host would be taken for one.
  const [pathname = '', query] = url.split('?', 2);
  if (!isFromHere(request, origin)) return refuse(response, 403);
  if (!pathname.startsWith('/api/')) {
    const file = method === 'GET' ? await pageFile(pathname, pageFolder) : undefined;
    if (file === undefined) return refuse(response, 404);
    response.setHeader('Content-Type', file.type);
    response.end(file.body);
    return;
  }
  const path = `${method} ${pathname}`;
  if (path === 'POST /api/session') {
    const { token }: { token?: unknown } = Object(await jsonOf(request));
    const key = access.exchange(token);
    if (key === undefined) return refuse(response, 401);
    return sendJson(response, 200, { key });
  }
  if (!access.hasKey(request)) return refuse(response, 401);
  if (path === 'GET /api/stream') return streams.add(response);
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) return refuse(response, 404);
  const body = method === 'POST' ? await jsonOf(request) : undefined;
  if (method === 'POST' && body === undefined) return refuse(response, 400);
  try {
    sendJson(response, 200, await route({ query: new URLSearchParams(query), body }));
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined) throw error;
    sendJson(response, 409, { error: { code, message: messageOf(error) } });
  }
}

/** The body of a request; `undefined` if it is not JSON or is too large. */
async function jsonOf(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type']?.split(';')[0] !== 'application/json') return undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(value));
}

/** Answers with a status only, without details. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end();
}

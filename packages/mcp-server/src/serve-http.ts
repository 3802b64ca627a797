import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { assertOptions, callListener, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import {
  assertLimits,
  assertRuntime,
  assertServeOptions,
  sessionSettings,
} from './assert-options.js';
import { DEFAULT_HTTP_LIMITS, type McpHttpLimits } from './http/http-limits.js';
import { HttpSession } from './http/http-session.js';
import { HttpSessions } from './http/http-sessions.js';
import { readBody } from './http/read-body.js';
import { type Refusal, RequestGate } from './http/request-gate.js';
import type { McpServeOptions, McpSessionSettings, ServedRuntime } from './served-runtime.js';

/** A client that may connect, and the settings of its sessions. */
export interface McpHttpClient extends McpSessionSettings {
  /** The bearer token, with at least 32 characters, e.g. from `openssl rand -hex 32`. */
  token: string;
}

/** The begin or the end of a client's session. */
export interface McpHttpSessionEvent {
  kind: 'begun' | 'ended';
  client: string;
  sessionId: string;
}

export interface ServeHttpOptions extends McpServeOptions {
  /**
   * The clients that may connect, by name. Each client has its own sessions, quotas and memory: its
   * name is the `userScopeId`, unless `identity` has another.
   */
  clients: Readonly<Record<string, McpHttpClient>>;
  /** The address to listen on. `127.0.0.1` when absent. */
  host?: string;
  /** The port to listen on. A free port when absent. */
  port?: number;
  /** The path of the server's URL. `/mcp` when absent. */
  path?: string;
  /**
   * Allowed values of the `Host` header, e.g. `mcp.example.com`. On a loopback address, the names
   * of the loopback are allowed as well. Required if `host` is not a loopback address.
   */
  allowedHosts?: readonly string[];
  /**
   * Allowed values of the `Origin` header. Pages of other origins can't connect. When absent, no
   * page can.
   */
  allowedOrigins?: readonly string[];
  limits?: Partial<McpHttpLimits>;
  /** Called when a session begins or ends. What it throws is ignored. */
  onSession?: (event: McpHttpSessionEvent) => void;
}

/** A server over HTTP. */
export interface McpHttpServer {
  /** The URL to which clients connect. */
  readonly url: string;
  /** Takes no more requests, ends all sessions, and waits for their end. */
  close(): Promise<void>;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

const OPTIONS: OptionNames<ServeHttpOptions> = {
  name: true,
  version: true,
  instructions: true,
  approvals: true,
  approvalTimeoutMs: true,
  toolsCheckMs: true,
  maxCallsAtOnce: true,
  onWaiting: true,
  clients: true,
  host: true,
  port: true,
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  limits: true,
  onSession: true,
};

const CLIENT_OPTIONS: OptionNames<McpHttpClient> = {
  token: true,
  personality: true,
  identity: true,
  limits: true,
};

/**
 * Serves the tools of personalities over streamable HTTP. Each session of the protocol is a session
 * of the runtime. The server does not speak TLS: put a proxy with TLS in front, and name its host
 * in `allowedHosts`.
 *
 * @param runtime the runtime with the tools
 * @param options tokens, personalities, host and port
 * @returns the server, which listens
 * @throws `CONFIG_INVALID` for an invalid token, personality or setting, and for a port that is
 *   taken or not allowed
 * @throws another error of `listen` of Node.js, e.g. `EADDRNOTAVAIL`
 */
export async function serveHttp(
  runtime: ServedRuntime,
  options: ServeHttpOptions,
): Promise<McpHttpServer> {
  assertRuntime('serveHttp', runtime);
  assertOptions('serveHttp', options, OPTIONS);
  assertServeOptions(options);
  const { clients = {}, host = '127.0.0.1', port = 0, path = '/mcp', allowedHosts = [] } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new EthosError(
      'CONFIG_INVALID',
      `port is ${JSON.stringify(port)}; give a whole number from 0 to 65535`,
    );
  }
  for (const [name, client] of Object.entries(clients)) {
    assertOptions(`serveHttp: clients.${name}`, client, CLIENT_OPTIONS);
  }
  if (!LOOPBACK.has(host) && allowedHosts.length === 0) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${host} is no loopback address; name the hosts that clients use in \`allowedHosts\``,
    );
  }
  assertLimits({ ...options.limits }, Object.keys(DEFAULT_HTTP_LIMITS));
  const hosts = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const gate = new RequestGate({
    tokens: new Map(Object.entries(clients).map(([name, { token }]) => [name, token])),
    hosts,
    origins: new Set(options.allowedOrigins),
  });
  const settings = new Map<string, McpSessionSettings>();
  for (const [name, { token: _, ...given }] of Object.entries(clients)) {
    const identity = { platform: 'mcp', userScopeId: name };
    settings.set(name, await sessionSettings(runtime, given, identity));
  }
  const handler = new HttpHandler({ runtime, options, gate, path, settings });
  const server = createServer((request, response) => {
    handler.handle(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, message: 'the request failed' });
    });
  });
  const bound = await listen(server, { host, port });
  if (LOOPBACK.has(host)) {
    for (const name of ['127.0.0.1', '[::1]', 'localhost']) hosts.add(`${name}:${bound}`);
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${path}`,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface HttpHandlerParts {
  runtime: ServedRuntime;
  options: ServeHttpOptions;
  gate: RequestGate;
  path: string;
  /** The settings of sessions, by the names of clients. */
  settings: ReadonlyMap<string, McpSessionSettings>;
}

class HttpHandler {
  readonly #parts: HttpHandlerParts;
  readonly #limits: McpHttpLimits;
  readonly #sessions: HttpSessions;
  #isClosed = false;

  constructor(parts: HttpHandlerParts) {
    this.#parts = parts;
    this.#limits = { ...DEFAULT_HTTP_LIMITS, ...parts.options.limits };
    this.#sessions = new HttpSessions(this.#limits);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = await this.#handle(request, response);
    if (refusal !== undefined) refuse(response, refusal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sessions.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> {
    const checked = this.#parts.gate.check(request.headers);
    if ('status' in checked) return checked;
    const { method = '', url = '', headers } = request;
    if (url.split('?')[0] !== this.#parts.path) return { status: 404, message: 'not found' };
    if (!['POST', 'GET', 'DELETE'].includes(method)) {
      return { status: 405, message: 'not allowed', headers: { Allow: 'GET, POST, DELETE' } };
    }
    const id = headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#sessions.find(id, checked.client) : undefined;
    if (id !== undefined && known === undefined) return NO_SESSION;
    if (method !== 'POST') {
      if (known === undefined) return { status: 400, message: 'Mcp-Session-Id is required' };
      return known.handle(request, response);
    }
    const read = await readBody(request, this.#limits.maxRequestBytes);
    if ('status' in read) return read;
    if (known !== undefined) {
      return known.handle(request, response, read.body);
    }
    if (!isInitializeRequest(read.body)) {
      return { status: 400, message: 'Mcp-Session-Id is required' };
    }
    return this.#begin(checked.client, { request, response, body: read.body });
  }

  async #begin(
    client: string,
    {
      request,
      response,
      body,
    }: { request: IncomingMessage; response: ServerResponse; body: unknown },
  ): Promise<Refusal | undefined> {
    if (this.#isClosed || !this.#sessions.makeRoom(client)) {
      return { status: 503, message: 'there are too many sessions; end one' };
    }
    const session = this.#open(client);
    await session.begin();
    const refusal = await session.handle(request, response, body);
    // The transport refused the request.
    if (session.id === undefined) await session.close();
    return refusal;
  }

  #open(client: string): HttpSession {
    const { runtime, options, settings } = this.#parts;
    const sessionId = `mcp-${randomUUID()}`;
    const tell = (kind: McpHttpSessionEvent['kind']) =>
      callListener(() => options.onSession?.({ kind, client, sessionId }));
    const session = new HttpSession({
      runtime,
      sessionId,
      client,
      settings: settings.get(client) ?? {},
      options,
      limits: this.#limits,
      onBegin: (id) => {
        this.#sessions.name(id, session);
        tell('begun');
        const end = () => tell('ended');
        session.connection.ended.then(end, end);
      },
    });
    this.#sessions.add(session);
    return session;
  }
}

/** The answer is the same for an unknown session and for a session of another client. */
const NO_SESSION: Refusal = { status: 404, message: 'Session not found' };

function refuse(
  response: ServerResponse,
  { status, message, headers, code = -32_000, id = null }: Refusal,
): void {
  const body = { jsonrpc: '2.0', error: { code, message }, id };
  // The rest of the request is not read.
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    Connection: 'close',
  });
  response.end(JSON.stringify(body));
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(portError(error, port));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function portError(cause: NodeJS.ErrnoException, port: number): Error {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `the port ${port} is taken by another program`,
    EACCES: `this user may not listen on the port ${port}`,
  };
  const problem = problems[cause.code ?? ''];
  if (problem === undefined) return cause;
  return new EthosError('CONFIG_INVALID', `${problem}; choose another \`port\``, { cause });
}

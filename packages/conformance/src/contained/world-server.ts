import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The header by which a world recognizes its own requests. Tools never see it. */
export const PASS_HEADER = 'x-ethos-contained-pass';
export const ASKED_HEADER = 'x-ethos-contained-url';

// What a tool sends is searched for canaries. No more than this is kept of one request.
const KEPT_BODY_BYTES = 4 * 1024 * 1024;

/** A request that arrived. */
export interface Received {
  method: string;
  /** The URL that the tool asked for. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Whether it came through the tool's context. */
  isPassed: boolean;
}

export type Answer = (request: Received, response: ServerResponse) => void | Promise<void>;

/** A server on loopback whose answers a scenario chooses, and which knows its open connections. */
export class WorldServer {
  readonly received: Received[] = [];
  /** The number of connections since the last `reset`. */
  connections = 0;
  answer: Answer = (_, response) => void response.end();
  readonly #pass: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** @param pass the value of `PASS_HEADER` in a request through the context */
  constructor(pass: string) {
    this.#pass = pass;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    // The server must not keep the process alive if a run was not awaited.
    this.#server.unref();
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The number of open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  reset(): void {
    this.received.length = 0;
    this.connections = 0;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    // Without keep-alive, an open connection means that somebody still holds it.
    response.setHeader('connection', 'close');
    try {
      const received = await this.#receive(request);
      this.received.push(received);
      await this.answer(received, response);
    } catch {
      response.destroy();
    }
  }

  async #receive(request: IncomingMessage): Promise<Received> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes <= KEPT_BODY_BYTES) chunks.push(chunk);
    }
    const { [PASS_HEADER]: pass, [ASKED_HEADER]: asked, ...headers } = request.headers;
    return {
      method: request.method ?? 'GET',
      url: isSamePath(asked, request.url) ? asked : `${this.origin}${request.url}`,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.concat(chunks),
      isPassed: pass === this.#pass,
    };
  }
}

/**
 * Whether a request still has the path that was asked for. After a redirect was followed, the
 * header is the same but the path differs.
 */
function isSamePath(asked: unknown, path: string | undefined): asked is string {
  if (typeof asked !== 'string') return false;
  const { pathname, search } = new URL(asked);
  return `${pathname}${search}` === path;
}

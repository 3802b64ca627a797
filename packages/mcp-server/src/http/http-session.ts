import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { discard, isObject } from '@ethosagent/policy';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { ClientConnection, type ClientConnectionParts } from '../client-connection.js';
import { idIsTaken, RequestIds, withdrawnId } from '../request-ids.js';
import type { McpHttpLimits } from './http-limits.js';
import type { Refusal } from './request-gate.js';

export interface HttpSessionParts extends ClientConnectionParts {
  limits: Pick<McpHttpLimits, 'idleMs' | 'reconnectMs'>;
  /** Called when the session can be found by its id. */
  onBegin: (id: string) => void;
}

/** How long a client has to read its last answers. */
const LAST_READ_MS = 1_000;

/** A session of the protocol: its transport, and the client that may use it. */
export class HttpSession {
  readonly client: string;
  readonly connection: ClientConnection;
  /** When its last connection ended, in milliseconds of `performance.now`. */
  unusedSince = performance.now();
  readonly #transport: StreamableHTTPServerTransport;
  readonly #limits: HttpSessionParts['limits'];
  readonly #ids = new RequestIds();
  /** The requests whose response has the answer to no other request. */
  readonly #alone = new Set<RequestId>();
  readonly #open = new Set<ServerResponse>();
  #hadStream = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  constructor({ limits, onBegin, ...parts }: HttpSessionParts) {
    this.client = parts.client;
    this.#limits = limits;
    this.connection = new ClientConnection(parts);
    this.#transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: onBegin,
    });
    this.#transport.onmessage = (message) => {
      const id = withdrawnId(message);
      // The SDK ends the response after the answer, and a withdrawn call gets no answer.
      if (id !== undefined && this.#alone.has(id)) this.#transport.closeSSEStream(id);
    };
    const stop = () => {
      this.#hasEnded = true;
      clearTimeout(this.#timer);
    };
    this.connection.ended.then(stop, stop);
  }

  /** Its id in the protocol; absent until the client is initialized. */
  get id(): string | undefined {
    return this.#transport.sessionId;
  }

  get isConnected(): boolean {
    return this.#open.size > 0;
  }

  begin(): Promise<void> {
    return this.connection.connect(this.#transport);
  }

  /** Handles a request. Returns why it does not. */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    body?: unknown,
  ): Promise<Refusal | undefined> {
    const requests = requestsOf(body);
    const taken = this.#ids.take(requests);
    if (taken !== undefined) {
      const { id, error } = idIsTaken(taken);
      return { status: 400, ...error, ...(id !== undefined && { id }) };
    }
    const [alone] = requests.length === 1 ? requests : [];
    if (alone !== undefined) this.#alone.add(alone);
    this.#open.add(response);
    clearTimeout(this.#timer);
    if (request.method === 'GET') this.#hadStream = true;
    onceClosed(request, response, () => {
      // Streams are not resumed, so nobody can get the answers any more.
      if (!response.writableFinished) this.#cancel(requests);
      this.#ids.free(requests);
      if (alone !== undefined) this.#alone.delete(alone);
      this.#open.delete(response);
      this.unusedSince = performance.now();
      if (this.#open.size === 0) this.#endLater();
    });
    await this.#transport.handleRequest(request, response, body);
    return undefined;
  }

  async close(): Promise<void> {
    await this.connection.close();
    if (!this.isConnected) return;
    const signal = AbortSignal.timeout(LAST_READ_MS);
    await Promise.allSettled([...this.#open].map((each) => once(each, 'close', { signal })));
  }

  #endLater(): void {
    if (this.#hasEnded) return;
    const { idleMs, reconnectMs } = this.#limits;
    this.#timer = setTimeout(() => discard(this.close()), this.#hadStream ? reconnectMs : idleMs);
    this.#timer.unref();
  }

  #cancel(requests: readonly RequestId[]): void {
    for (const requestId of requests) {
      this.#transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId, reason: 'the client has disconnected' },
      });
    }
  }
}

/**
 * Waits for the end of a response. A response that waits for an earlier one of its connection does
 * not belong to the connection yet, so Node.js does not tell it that the connection has closed.
 */
function onceClosed(
  { socket }: IncomingMessage,
  response: ServerResponse,
  onClosed: () => void,
): void {
  let isOpen = true;
  const close = () => {
    response.off('close', close);
    socket.off('close', close);
    // Removed listeners are still called where both events come together.
    if (isOpen) onClosed();
    isOpen = false;
  };
  response.once('close', close);
  // Any number of requests may wait on one connection.
  socket.setMaxListeners(0).once('close', close);
}

function requestsOf(body: unknown): RequestId[] {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    if (!isObject(message) || typeof message.method !== 'string') return [];
    const { id } = message;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });
}

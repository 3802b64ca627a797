import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CancelledNotificationSchema,
  ErrorCode,
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

/**
 * The ids of the requests that are not answered. The SDK keeps one abort signal for each id, so of
 * two requests with one id nothing could stop the first.
 */
export class RequestIds {
  readonly #taken = new Set<RequestId>();

  /** Takes ids for requests. Returns an id that is taken already or repeats; then it takes none. */
  take(ids: readonly RequestId[]): RequestId | undefined {
    const taking = new Set<RequestId>();
    for (const id of ids) {
      if (this.#taken.has(id) || taking.has(id)) return id;
      taking.add(id);
    }
    for (const id of taking) this.#taken.add(id);
    return undefined;
  }

  free(ids: readonly RequestId[]): void {
    for (const id of ids) this.#taken.delete(id);
  }
}

/** The answer to a request whose id is taken. */
export function idIsTaken(id: RequestId): JSONRPCErrorResponse {
  const message = 'Invalid Request: a request with this id is not answered yet; use another id';
  return { jsonrpc: '2.0', id, error: { code: ErrorCode.InvalidRequest, message } };
}

/** The request that a message withdraws. It gets no answer. */
export function withdrawnId(message: JSONRPCMessage): RequestId | undefined {
  return CancelledNotificationSchema.safeParse(message).data?.params.requestId;
}

const NO_JSON = 'Parse error: a line is no JSON; send each message as one line of UTF-8';
const NO_MESSAGE =
  'Invalid Request: a line is no JSON-RPC message, or one with an invalid id, params or _meta; send each message, also those of a batch, alone on its line';

/**
 * The answer to input that is no message. It has no id: one with the id `null` would be no message
 * itself, and a client that sends back what it gets would be answered without end.
 */
function isNoMessage(error: Error): JSONRPCErrorResponse {
  const code = error instanceof SyntaxError ? ErrorCode.ParseError : ErrorCode.InvalidRequest;
  const message =
    error instanceof SyntaxError
      ? NO_JSON
      : error.name === 'ZodError'
        ? NO_MESSAGE
        : `Invalid Request: the input can not be read any further, so the session ends: ${error.message}`;
  return { jsonrpc: '2.0', error: { code, message } };
}

/** A transport that refuses a request whose id is taken, and says what it could not read. */
export class UniqueIdsTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #ids = new RequestIds();

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (this.#isTaken(message)) return;
      this.onmessage?.(message, extra);
    };
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => {
      this.#refuse(isNoMessage(error));
      this.onerror?.(error);
    };
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#ids.free([message.id]);
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #refuse(answer: JSONRPCErrorResponse): void {
    this.#inner.send(answer).catch((error: Error) => this.onerror?.(error));
  }

  #isTaken(message: JSONRPCMessage): boolean {
    if (isJSONRPCRequest(message)) {
      const taken = this.#ids.take([message.id]);
      if (taken === undefined) return false;
      this.#refuse(idIsTaken(taken));
      return true;
    }
    const withdrawn = withdrawnId(message);
    if (withdrawn !== undefined) this.#ids.free([withdrawn]);
    return false;
  }
}

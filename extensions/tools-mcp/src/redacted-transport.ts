import type {
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CancelledNotificationSchema,
  ErrorCode,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { charsIn, mapStrings } from './json-message.js';
import { MAX_UNASKED_CHARS } from './limits.js';
import type { TokenBucket } from './token-bucket.js';

/** The message of the answer that replaces one that broke off. */
export const BROKEN_OFF = 'the connection broke off';

export interface RedactedTransportOptions {
  /** Removes secrets from a text; `undefined` when the server got no secret. */
  redact: ((text: string) => string) | undefined;
  /** The methods of a server whose parameters somebody reads. */
  reads: ReadonlySet<string>;
  /**
   * A bucket from which the characters of notifications and requests are taken. While it is empty,
   * the connection is not read.
   */
  unasked: Pick<TokenBucket, 'take'>;
}

/** What a character costs that is parsed and then dropped, beside one that is redacted too. */
const DROPPED_COST = 1 / 16;

/**
 * A transport that removes the secrets of the server from its messages. Redaction takes far longer
 * than the server takes to write a text, so only what somebody reads is redacted: answers to own
 * requests, and short messages of methods that are handled.
 */
export class RedactedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #options: RedactedTransportOptions;
  /** The own requests that are not answered, by their ids. */
  readonly #asked = new Map<number, AbortController>();

  constructor(inner: Transport, options: RedactedTransportOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#deliver(message);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCRequest(message)) this.#asked.set(Number(message.id), new AbortController());
    // A request that is withdrawn gets no answer.
    const { data: withdrawn } = CancelledNotificationSchema.safeParse(message);
    if (withdrawn !== undefined) this.#settle(Number(withdrawn.params.requestId));
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** A signal that fires when an own request has its answer, or is withdrawn. */
  settled(id: string | number): AbortSignal {
    return this.#asked.get(Number(id))?.signal ?? AbortSignal.abort();
  }

  /** Answers a request whose real answer will not come. */
  breakOff(id: string | number): void {
    this.#settle(Number(id));
    const error = { code: -32000, message: BROKEN_OFF, data: BROKEN_OFF };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  /** Returns whether the request was not settled before. */
  #settle(id: number): boolean {
    this.#asked.get(id)?.abort();
    return this.#asked.delete(id);
  }

  #deliver(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      // The SDK, too, takes the id `"1"` for 1.
      if (this.#settle(Number(message.id))) this.#pass(message);
      else this.#charge(charsIn(message), false);
      return;
    }
    const { method } = message;
    const chars = charsIn(message);
    const isShort = chars <= MAX_UNASKED_CHARS;
    const isRead = this.#options.reads.has(method);
    this.#charge(chars, isShort && isRead);
    if (isShort && isRead) this.#pass(message);
    else if (isJSONRPCRequest(message)) this.#refuse(message.id, isRead);
    // An entry without data counts as one that was left out.
    else if (isRead && method === 'notifications/message')
      this.#pass({ jsonrpc: '2.0', method, params: { level: 'info' } });
  }

  /** Refuses a request of the server, of which nothing but the id is used. */
  #refuse(id: RequestId, isTooLong: boolean): void {
    if (charsIn(id) > MAX_UNASKED_CHARS) return;
    const error = isTooLong
      ? { code: ErrorCode.InvalidRequest, message: 'the request is too long' }
      : { code: ErrorCode.MethodNotFound, message: 'Method not found' };
    this.#inner.send({ jsonrpc: '2.0', id, error }).catch((error) => this.onerror?.(error));
  }

  #charge(chars: number, isRead: boolean): void {
    this.#options.unasked.take(isRead ? chars : Math.ceil(chars * DROPPED_COST));
  }

  #pass(message: JSONRPCMessage): void {
    const { redact } = this.#options;
    if (redact === undefined) {
      this.onmessage?.(message);
      return;
    }
    const redacted = JSONRPCMessageSchema.safeParse(mapStrings(message, redact));
    if (redacted.success) this.onmessage?.(redacted.data);
  }
}

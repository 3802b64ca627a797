import type {
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { mapStrings } from './json-message.js';

/** The message of the answer that replaces one that broke off. */
export const BROKEN_OFF = 'the connection broke off';

/** A transport that removes the secrets of the server from its messages. */
export class RedactedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #redact: ((text: string) => string) | undefined;

  /** @param redact removes secrets from a text; `undefined` when the server got no secret */
  constructor(inner: Transport, redact: ((text: string) => string) | undefined) {
    this.#inner = inner;
    this.#redact = redact;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message) => this.#deliver(message);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Answers a request whose real answer will not come. */
  breakOff(id: string | number): void {
    const error = { code: -32000, message: BROKEN_OFF, data: BROKEN_OFF };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#redact === undefined) {
      this.onmessage?.(message);
      return;
    }
    const redacted = JSONRPCMessageSchema.safeParse(mapStrings(message, this.#redact));
    if (redacted.success) this.onmessage?.(redacted.data);
  }
}

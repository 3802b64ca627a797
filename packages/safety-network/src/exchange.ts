import { EthosError } from '@ethosagent/types';
import type { Dispatcher } from 'undici';
import { BodyStream } from './body-stream.js';
import { toNetworkError } from './denials.js';
import type { PinnedAgent } from './pinned-agent.js';
import type { RequestLifetime } from './request-lifetime.js';
import { type BodyFate, type BodyHeaders, type ResponseSink, tapResponse } from './response-tap.js';

export interface ExchangeOptions {
  readonly host: string;
  /** Returns the limit in bytes for a `Content-Type`. */
  readonly maxBodyBytes: (type: string) => number;
  /** The lifetime of the request. When it ends, the exchange and its connection end. */
  readonly lifetime: RequestLifetime;
  /** The bodies that the exchange keeps from `fetch`, of those without an encoding. */
  readonly takes: 'none' | 'large' | 'all';
  /** Called when the whole response has arrived. */
  readonly onEnd: () => void;
  /** Called when all of `body` has been read. */
  readonly onRead: () => void;
  /**
   * Called with the number of bytes that arrived of a body without an encoding. May end the
   * request.
   */
  readonly onBytes: ((count: number) => void) | undefined;
  readonly onFailure: (error: EthosError) => void;
}

/**
 * The most encodings of a body. Each needs a decoder, and some versions of `fetch` have no limit.
 */
const MAX_CONTENT_ENCODINGS = 5;
const SMALL_BODY_BYTES = 64 * 1024;
/** The most bytes of an endless body that wait for the reader. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** One request and its response on a connection. */
export class Exchange implements ResponseSink {
  readonly #options: ExchangeOptions;
  #body: BodyStream | undefined;
  #abort: ((reason: Error) => void) | undefined;
  #stopWaiting: (() => void) | undefined;
  #bytes = 0;
  #maxBytes = 0;
  /** The bytes that `fetch` got since it last asked for more. */
  #unread = 0;
  #countsBody = false;
  #hasEnded = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    options.lifetime.onFailure((reason) => {
      this.#leaveQueue();
      this.#body?.fail(reason);
      this.#close();
    });
  }

  /**
   * The body straight from the connection, which is faster than through `fetch`. Absent if the body
   * goes through `fetch`: an encoded one, which `fetch` decodes, and a small one of a response that
   * `fetch` makes, for which a second stream would cost more than it saves.
   */
  get body(): ReadableStream<Uint8Array> | undefined {
    return this.#body?.stream;
  }

  /** Whether there is a `body`. */
  get keepsBody(): boolean {
    return this.#body !== undefined;
  }

  /** Returns the whole body instead of `body`; `undefined` if it has not all arrived. */
  takeBody(): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#hasEnded ? this.#body?.take() : undefined;
    if (bytes) this.#body = undefined;
    return bytes;
  }

  /** Whether the whole response has arrived, so that it can't fail any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Whether `onBytes` gets the bytes of the body. It does not for an encoded body, whose size is
   * known only after decoding.
   */
  get countsBody(): boolean {
    return this.#countsBody;
  }

  /** Ends the connection if it has more for a response without a body. */
  drop(): void {
    if (!this.#hasEnded) this.#close();
  }

  send(
    agent: PinnedAgent,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    agent.dispatch(options, tapResponse(handler, this), (stopWaiting) => {
      this.#stopWaiting = stopWaiting;
    });
  }

  onStart(abort: (reason: Error) => void): void {
    this.#leaveQueue();
    this.#abort = abort;
    if (this.#options.lifetime.failed) this.#close();
  }

  onHeaders({ encodings, length, type }: BodyHeaders): BodyFate {
    this.#maxBytes = this.#options.maxBodyBytes(type);
    if (encodings.split(',').length > MAX_CONTENT_ENCODINGS) {
      const detail = `${this.#options.host} encoded its answer too many times`;
      this.#options.onFailure(new EthosError('NETWORK_FAILED', detail));
      return 'refused';
    }
    this.#countsBody = encodings === '';
    const { takes } = this.#options;
    const isSmall = length !== '' && Number(length) <= SMALL_BODY_BYTES;
    if (encodings !== '' || takes === 'none' || (takes === 'large' && isSmall)) return 'passed';
    this.#body = new BodyStream({
      onCancel: () => this.#close(),
      onRead: () => this.#options.onRead(),
    });
    return 'taken';
  }

  onData(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const { lifetime, host, onFailure } = this.#options;
    lifetime.notIdle();
    // Written with a negation, so that a limit of `NaN` refuses everything.
    if (!(this.#bytes <= this.#maxBytes)) {
      onFailure(bodyTooLarge(host, this.#maxBytes));
      return;
    }
    if (this.#countsBody) {
      this.#options.onBytes?.(chunk.length);
      if (this.#options.lifetime.failed) return;
    }
    this.#unread += chunk.length;
    const waiting = this.#body?.push(chunk) ?? this.#unread;
    if (this.#maxBytes === Number.POSITIVE_INFINITY && waiting > MAX_UNREAD_BYTES) {
      const detail = `more than ${MAX_UNREAD_BYTES} bytes of the answer of ${host} wait to be read`;
      onFailure(new EthosError('BODY_TOO_LARGE', detail));
    }
  }

  onWanted(): void {
    this.#unread = 0;
  }

  onEnd(): void {
    this.#hasEnded = true;
    this.#body?.end();
    this.#options.onEnd();
  }

  onFailure(error: Error): void {
    this.#leaveQueue();
    this.#options.onFailure(toNetworkError(this.#options.host, error));
  }

  #leaveQueue(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  #close(): void {
    this.#abort?.(new Error('the request was ended'));
  }
}

export function bodyTooLarge(host: string, maxBodyBytes: number): EthosError {
  return new EthosError(
    'BODY_TOO_LARGE',
    `the answer of ${host} is larger than ${maxBodyBytes} bytes`,
  );
}

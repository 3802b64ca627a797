import { ByteQueue } from './byte-queue.js';

export interface BodyStreamOptions {
  /** Called when the reader has cancelled the stream. */
  readonly onCancel: () => void;
  /** Called when the reader has got everything. */
  readonly onRead: () => void;
}

/**
 * A response body that a connection fills. It keeps its own queue, because a stream does not report
 * when its last chunk was read.
 */
export class BodyStream {
  readonly #options: BodyStreamOptions;
  #queue = new ByteQueue();
  #stream: ReadableStream<Uint8Array> | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #reason: unknown;
  #isWanted = false;
  #hasEnded = false;
  #isOver = false;

  constructor(options: BodyStreamOptions) {
    this.#options = options;
  }

  /** The stream for the reader: always the same, made when it is first asked for. */
  get stream(): ReadableStream<Uint8Array> {
    this.#stream ??= this.#open();
    return this.#stream;
  }

  /** Returns all bytes instead of the stream. */
  take(): Uint8Array<ArrayBuffer> {
    this.#isOver = true;
    return this.#queue.takeAll();
  }

  /**
   * Adds bytes for the reader.
   * @returns how many bytes wait for the reader
   */
  push(chunk: Buffer): number {
    if (this.#isOver) return 0;
    this.#queue.push(chunk);
    this.#give();
    return this.#queue.bytes;
  }

  end(): void {
    this.#hasEnded = true;
    this.#give();
  }

  /** Makes the rest of the body fail, even if all of it has arrived. */
  fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue = new ByteQueue();
    this.#reason = reason;
    this.#controller?.error(reason);
  }

  #open(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          if (this.#isOver) controller.error(this.#reason);
          else this.#give();
        },
        pull: () => {
          this.#isWanted = true;
          this.#give();
        },
        cancel: () => {
          if (this.#isOver) return;
          this.#isOver = true;
          this.#queue = new ByteQueue();
          this.#options.onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  #give(): void {
    if (this.#isOver || !this.#controller) return;
    const chunk = this.#isWanted ? this.#queue.shift() : undefined;
    if (chunk) {
      this.#isWanted = false;
      this.#controller.enqueue(ownBytes(chunk));
    }
    if (this.#hasEnded && this.#queue.bytes === 0) {
      this.#isOver = true;
      this.#controller.close();
      this.#options.onRead();
    }
  }
}

/**
 * Returns the bytes in a buffer of their own, as `fetch` does. They are copied only if the buffer
 * is shared.
 */
function ownBytes(chunk: Uint8Array): Uint8Array {
  return chunk.byteLength === chunk.buffer.byteLength
    ? new Uint8Array(chunk.buffer)
    : new Uint8Array(chunk);
}

/** The most bytes that wait for the reader before the connection is paused. */
const HIGH_WATER_MARK = 256 * 1024;

export interface BodyStreamOptions {
  /** Resumes the connection after `push` has returned `false`. */
  readonly onResume: () => void;
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
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #stream: ReadableStream<Uint8Array> | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isWanted = false;
  #isPaused = false;
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
    const bytes = new Uint8Array(this.#queuedBytes);
    let at = 0;
    for (const chunk of this.#queue) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }

  /**
   * Adds bytes for the reader.
   * @returns `false` if the connection must pause
   */
  push(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#give();
    this.#isPaused = this.#queuedBytes >= HIGH_WATER_MARK;
    return !this.#isPaused;
  }

  end(): void {
    this.#hasEnded = true;
    this.#give();
  }

  /** Makes the rest of the body fail, even if all of it has arrived. */
  fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.length = 0;
    this.#controller?.error(reason);
  }

  #open(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#give();
        },
        pull: () => {
          this.#isWanted = true;
          this.#give();
        },
        cancel: () => {
          if (this.#isOver) return;
          this.#isOver = true;
          this.#queue.length = 0;
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
      this.#queuedBytes -= chunk.length;
      this.#controller.enqueue(ownBytes(chunk));
    }
    if (this.#hasEnded && this.#queue.length === 0) {
      this.#isOver = true;
      this.#controller.close();
      this.#options.onRead();
    } else if (this.#isPaused && this.#queuedBytes < HIGH_WATER_MARK) {
      this.#isPaused = false;
      this.#options.onResume();
    }
  }
}

/**
 * Returns the bytes in a buffer of their own, as `fetch` does. They are copied only if the buffer
 * is shared.
 */
function ownBytes(chunk: Buffer): Uint8Array<ArrayBuffer> {
  return chunk.byteLength === chunk.buffer.byteLength
    ? new Uint8Array(chunk.buffer as ArrayBuffer)
    : new Uint8Array(chunk);
}

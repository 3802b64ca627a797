/** The size of a block up to which bytes are joined. */
const BLOCK_BYTES = 64 * 1024;
const NOTHING = new Uint8Array();

/** Bytes that wait. Small pieces are joined, because each of a million takes space of its own. */
export class ByteQueue {
  readonly #blocks: Uint8Array[] = [];
  /** The last block, of which the first `#used` bytes are taken. */
  #tail: Uint8Array = NOTHING;
  #used = 0;
  #bytes = 0;

  /** How many bytes wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds bytes. They may not change afterwards. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const used = this.#used + chunk.length;
    if (this.#used > 0 && used <= BLOCK_BYTES) {
      this.#makeRoom(used);
      this.#tail.set(chunk, this.#used);
      this.#used = used;
      return;
    }
    if (this.#used > 0) this.#blocks.push(this.#tail.subarray(0, this.#used));
    this.#tail = chunk;
    this.#used = chunk.length;
  }

  /** Removes the first block, and returns it; `undefined` if nothing waits. */
  shift(): Uint8Array | undefined {
    let block = this.#blocks.shift();
    if (block === undefined && this.#used > 0) {
      block = this.#tail.subarray(0, this.#used);
      this.#tail = NOTHING;
      this.#used = 0;
    }
    this.#bytes -= block?.length ?? 0;
    return block;
  }

  /** Removes all bytes, in one piece. */
  takeAll(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#bytes);
    for (let block = this.shift(), at = 0; block !== undefined; block = this.shift()) {
      all.set(block, at);
      at += block.length;
    }
    return all;
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#tail.length) return;
    const grown = new Uint8Array(Math.min(BLOCK_BYTES, 2 * bytes));
    grown.set(this.#tail.subarray(0, this.#used));
    this.#tail = grown;
  }
}

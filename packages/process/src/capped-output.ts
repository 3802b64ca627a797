/** Collects the bytes of a stream up to a cap. */
export class CappedOutput {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  truncated = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a chunk. Returns whether all of it fitted. */
  add(chunk: Buffer): boolean {
    const room = this.#maxBytes - this.#bytes;
    if (chunk.length > room) this.truncated = true;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (kept.length > 0) {
      this.#chunks.push(kept);
      this.#bytes += kept.length;
    }
    return !this.truncated;
  }

  /** The text. Invalid UTF-8 becomes U+FFFD. */
  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

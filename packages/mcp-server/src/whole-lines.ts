import { Transform } from 'node:stream';
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js';

const NEWLINE = 0x0a;

/**
 * Passes bytes on line by line. For each chunk, the transport copies and searches everything that
 * it holds. A message of 10 MB in small chunks would take it seconds.
 */
export class WholeLines extends Transform {
  readonly #begun: Buffer[] = [];
  #size = 0;

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#pass(chunk.subarray(0, end));
    if (end < chunk.length) this.#keep(chunk.subarray(end));
    done();
  }

  #keep(part: Buffer): void {
    this.#begun.push(part);
    this.#size += part.length;
    // The transport refuses longer messages. So it must receive this one.
    if (this.#size > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.#pass();
  }

  #pass(...last: Buffer[]): void {
    this.push(Buffer.concat([...this.#begun, ...last]));
    this.#begun.length = 0;
    this.#size = 0;
  }
}

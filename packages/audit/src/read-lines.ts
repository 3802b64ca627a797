import { read } from 'node:fs';
import { promisify } from 'node:util';

const readAsync = promisify(read);
const CHUNK_BYTES = 256 * 1024;
/** No line of a sink is as long. Longer lines are skipped. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINE_BREAK = 0x0a;

/** A line without its line break. Its bytes are valid until the next line is read. */
export interface Line {
  bytes: Buffer;
  /** The length of the line, even if its bytes are left out. */
  length: number;
  /** Whether a line break ended it. */
  isWhole: boolean;
}

/**
 * Yields the lines of a file, one at a time. Of a line over 16 MiB it yields only the length.
 * @param from the offset at which the first line begins
 */
export async function* readLines(descriptor: number, from = 0): AsyncGenerator<Line> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (bytes: Buffer) => {
    length += bytes.length;
    if (length > MAX_LINE_BYTES) parts = [];
    else if (bytes.length > 0) parts.push(Buffer.from(bytes));
  };
  for (let position = from; ; ) {
    const { bytesRead } = await readAsync(descriptor, chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const got = chunk.subarray(0, bytesRead);
    let start = 0;
    for (let end = got.indexOf(LINE_BREAK); end >= 0; end = got.indexOf(LINE_BREAK, start)) {
      if (length === 0) {
        yield { bytes: got.subarray(start, end), length: end - start, isWhole: true };
      } else {
        keep(got.subarray(start, end));
        yield { bytes: Buffer.concat(parts), length, isWhole: true };
      }
      parts = [];
      length = 0;
      start = end + 1;
    }
    keep(got.subarray(start));
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), length, isWhole: false };
}

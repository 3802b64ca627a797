import { isUtf8 } from 'node:buffer';
import { readByteOrderMark } from '@ethosagent/policy';
import { decodeText } from './text-encoding.js';
import { linesOf } from './text-lines.js';

/** Returns a line of a file by its number, counted from 1; `undefined` after the last line. */
export type FileLines = (number: number) => string | undefined;

const NEWLINE = 10;
const RETURN = 13;

/** Gives access to the lines of a file. Returns `undefined` when the bytes are not text. */
export async function fileLines(bytes: Uint8Array): Promise<FileLines | undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPlain = readByteOrderMark(bytes) === undefined && !buffer.includes(0) && isUtf8(buffer);
  if (isPlain) return linesOfUtf8(buffer);
  const decoded = await decodeText(bytes);
  if (decoded === undefined) return undefined;
  const lines = linesOf(decoded.text);
  return (number) => lines[number - 1]?.text;
}

/**
 * Decodes each line only when it is asked for, because only a few lines of a large file are shown.
 */
function linesOfUtf8(bytes: Buffer): FileLines {
  const starts = [0];
  return (number) => {
    for (let last = starts.at(-1) ?? 0; starts.length <= number; ) {
      const newline = last < bytes.length ? bytes.indexOf(NEWLINE, last) : -1;
      if (newline < 0) break;
      last = newline + 1;
      starts.push(last);
    }
    const start = starts[number - 1];
    if (start === undefined || start >= bytes.length) return undefined;
    const next = starts[number];
    if (next === undefined) return bytes.toString('utf8', start);
    const end = next - 1;
    return bytes.toString('utf8', start, end > start && bytes[end - 1] === RETURN ? end - 1 : end);
  };
}

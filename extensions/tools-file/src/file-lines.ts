import { isUtf8 } from 'node:buffer';
import { readByteOrderMark } from '@ethosagent/policy';
import { decodeText } from './text-encoding.js';

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
  return linesOfUtf8(Buffer.from(decoded.text));
}

/** The place of one line in so many is kept. The place of every one would take more than the text. */
const KEPT_EVERY = 64;

/**
 * Decodes each line only when it is asked for, because only a few lines of a large file are shown.
 */
function linesOfUtf8(bytes: Buffer): FileLines {
  const kept = [0];
  const startOf = (number: number): number | undefined => {
    const from = Math.min(Math.floor((number - 1) / KEPT_EVERY), kept.length - 1);
    let start = kept[from];
    for (let line = from * KEPT_EVERY + 1; line < number && start !== undefined; line += 1) {
      if (line % KEPT_EVERY === 1) kept[(line - 1) / KEPT_EVERY] = start;
      const newline = bytes.indexOf(NEWLINE, start);
      start = newline === -1 ? undefined : newline + 1;
    }
    return start;
  };
  const decode = (number: number): string | undefined => {
    const start = startOf(number);
    if (start === undefined || start >= bytes.length) return undefined;
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline === -1) return bytes.toString('utf8', start);
    const hasReturn = newline > start && bytes[newline - 1] === RETURN;
    return bytes.toString('utf8', start, hasReturn ? newline - 1 : newline);
  };
  // A line that is found is asked for up to three times, and may be a file in a single line.
  const decoded = new Map<number, string | undefined>();
  return (number) => {
    if (!decoded.has(number)) decoded.set(number, decode(number));
    return decoded.get(number);
  };
}

import { LineReader } from './line-reader.js';

/** Reads the lines that have a mark; gives what follows it. Whatever stands before it is dropped. */
export function markedLines(mark: string, onLine: (text: string) => void): LineReader {
  const start = `\u0001${mark} `;
  return new LineReader((line) => {
    const at = line.lastIndexOf(start);
    if (at !== -1) onLine(line.slice(at + start.length));
  });
}

import { LineReader } from './line-reader.js';

/**
 * Passes on the text after the mark of each line that has one. The text before the mark is dropped.
 */
export function markedLines(mark: string, onLine: (text: string) => void): LineReader {
  const start = `\u0001${mark} `;
  return new LineReader((line) => {
    const at = line.lastIndexOf(start);
    if (at !== -1) onLine(line.slice(at + start.length));
  });
}

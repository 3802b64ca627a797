/** The words of a text with one space after each, and where each began. */
export interface WordStream {
  text: string;
  /** The index in the original of an index in the stream. */
  originOf(index: number): number;
}

// Colons and at signs tell headings and addresses; a full stop ends a sentence. An empty line says
// nothing: who reads a text reads on over it.
const TOKEN = /[\p{L}\p{M}\p{N}'’_]+|[:@]|[.!?](?=\s)/gu;

/**
 * Brings a text into a form in which phrases have one spelling, whatever stands between their words.
 * Patterns with a space after each word take linear time on it.
 */
export function wordStream(text: string): WordStream {
  const parts: string[] = [];
  const begins: number[] = [];
  const origins: number[] = [];
  let length = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const written = `${token.replace(/[!?]/, '.')} `;
    begins.push(length);
    origins.push(index);
    parts.push(written);
    length += written.length;
  }
  return {
    text: parts.join(''),
    originOf(index) {
      let low = 0;
      let high = begins.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((begins[middle] ?? 0) <= index) low = middle;
        else high = middle - 1;
      }
      return origins[low] ?? 0;
    },
  };
}

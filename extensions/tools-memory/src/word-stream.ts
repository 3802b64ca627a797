/** The words of a text, each with one space after it, and the place of each word in the text. */
export interface WordStream {
  text: string;
  /** Returns the index in the original text for an index in the stream. */
  originOf(index: number): number;
}

// Colons and at signs show headings and addresses, and a full stop ends a sentence, so they stay. An empty
// line does not count, because a reader reads on after it.
const TOKEN = /[\p{L}\p{M}\p{N}'’_]+|[:@]|[.!?](?=\s)/gu;

/**
 * Splits a text into a stream of words, so that a phrase has one spelling, whatever stands between
 * its words. A pattern with a space after each word needs linear time on the stream.
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

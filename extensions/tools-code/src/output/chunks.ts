import { takeStart } from '@ethosagent/policy';

/** Splits a text into parts of at most `maxChars` characters. No character is cut in two. */
export function chunksOf(text: string, maxChars: number): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    const rest = text.slice(start, start + maxChars);
    const isLast = start + rest.length === text.length;
    const chunk = isLast ? rest : takeStart(rest, maxChars);
    chunks.push(chunk);
    start += chunk.length;
  }
  return chunks;
}

/**
 * Splits a stream into lines, without their line ends. Text after the last line end is not a line.
 *
 * @param maxBytes how many bytes a line may have; `onTooLong` makes the error for a longer one
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, onTooLong }: { maxBytes: number; onTooLong: () => Error },
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end < 0 ? undefined : end);
      length += part.length;
      if (length > maxBytes) throw onTooLong();
      parts.push(part);
      if (end < 0) break;
      yield decoder.decode(Buffer.concat(parts));
      parts = [];
      length = 0;
      start = end + 1;
    }
  }
}

const NEWLINE = 0x0a;

/**
 * Returns a function that gives a replacement the line endings of the text at an offset: the ending
 * of the line that the offset is in, else of the line before it. Offsets must ascend. The last
 * lookup is kept, because a long line may hold many offsets.
 */
export function lineEndingAdapter(text: string, replacement: string): (offset: number) => string {
  if (!replacement.includes('\n')) return () => replacement;
  const unix = replacement.replaceAll('\r\n', '\n');
  const dos = unix.replaceAll('\n', '\r\n');
  const lastNewline = text.lastIndexOf('\n');
  if (lastNewline === -1) return () => replacement;
  let newline = -1;
  return (offset) => {
    if (newline < offset) newline = offset > lastNewline ? lastNewline : text.indexOf('\n', offset);
    return text[newline - 1] === '\r' ? dos : unix;
  };
}

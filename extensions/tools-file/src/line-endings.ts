/**
 * Gives a replacement the line endings that the text has at an offset: those of the line that the
 * offset is in, else of the one before it. Offsets must ascend: what was looked up is kept, because
 * a long line may hold many of them.
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

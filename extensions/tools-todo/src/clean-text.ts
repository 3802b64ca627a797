// All control and format characters but the line break: they could hide or reorder what is shown.
// The joiners stay, which emoji and several scripts need.
const INVISIBLE = /[^\P{Cc}\n]|[^\P{Cf}\u200c\u200d]|[\u2028\u2029]/gu;

/** One line, without what can't be seen. */
export function cleanLine(text: string): string {
  return text.replace(/\s/g, ' ').replace(INVISIBLE, '').replace(/ +/g, ' ').trim();
}

/** Lines, without what can't be seen and without white space at their ends. */
export function cleanLines(text: string): string {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  return lines
    .map((line) => line.replaceAll('\t', '  ').replace(INVISIBLE, '').trimEnd())
    .join('\n')
    .trim();
}

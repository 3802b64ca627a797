/**
 * Escapes a text, so that Markdown shows it as it is. A formula that a script of the page would
 * render stays as it was written.
 *
 * @param isLineStart whether the text is at the beginning of a line
 */
export function escapeMarkdown(text: string, isLineStart: boolean): string {
  let shown = '';
  let at = 0;
  for (const [from, to] of formulasIn(text)) {
    shown += escapePlain(text.slice(at, from)) + text.slice(from, to);
    at = to;
  }
  shown += escapePlain(text.slice(at));
  if (!isLineStart) return shown;
  return shown
    .replace(/^(\s{0,9})([#>+-]|#{2,6}|={2,}|~{3,})(?=\s|$|[-=~])/, '$1\\$2')
    .replace(/^(\s{0,9}\d{1,9})([.)])(?=\s)/, '$1\\$2');
}

function escapePlain(text: string): string {
  if (!/[\\*_`[\]]/.test(text)) return text;
  return text
    .replaceAll(/[\\`]|\*(?!\s)|(?<=\S)\*/g, '\\$&')
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replaceAll(/\](?=[([])/g, '\\]');
}

const FORMULAS = [
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$$', '$$'],
] as const;

/**
 * Finds formulas, in order. The search for each kind only goes forward, so it takes linear time.
 */
function formulasIn(text: string): [from: number, to: number][] {
  if (!text.includes('\\') && !text.includes('$$')) return [];
  const found: [number, number][] = [];
  for (const [open, close] of FORMULAS) {
    for (let at = 0; ; ) {
      const from = text.indexOf(open, at);
      const end = from < 0 ? -1 : text.indexOf(close, from + open.length);
      if (end < 0) break;
      at = end + close.length;
      found.push([from, at]);
    }
  }
  found.sort(([one], [other]) => one - other);
  let last = 0;
  return found.filter(([from, to]) => {
    if (from < last) return false;
    last = to;
    return true;
  });
}

/** Writes a URL as the target of a link. */
export function linkTarget(url: string): string {
  return /[()\s]/.test(url) ? `<${url}>` : url;
}

/** Writes code within a line. */
export function codeSpan(text: string): string {
  const code = text.replaceAll(/\s*\n\s*/g, ' ');
  if (code.trim() === '') return '';
  const marks = '`'.repeat(longestRun(code) + 1);
  const space = /^`|`$/.test(code) ? ' ' : '';
  return marks + space + code + space + marks;
}

/** Writes code in lines of its own. */
export function codeBlock(text: string, language: string): string {
  const code = text.replace(/^\n/, '').trimEnd();
  if (code === '') return '';
  const fence = '`'.repeat(Math.max(3, longestRun(code) + 1));
  return `${fence}${language}\n${code}\n${fence}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
}

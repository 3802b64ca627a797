/** How much of a text was shown, and how much of what was shown is of it, by words. */
export interface Score {
  recall: number;
  precision: number;
}

const INLINE = /<\/?(?:a|abbr|b|code|em|i|kbd|s|small|span|strong|sub|sup)(?:\s[^>]*)?>/gi;

export function textOfHtml(html: string): string {
  return html
    .replaceAll(INLINE, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');
}

/** The words of Markdown: without addresses, pictures, numbers of lists and the languages of code. */
export function textOfMarkdown(markdown: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const [, mark] = /^[\s>]*(`{3,})/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || mark === fence)) {
      fence = fence === undefined ? mark : undefined;
    } else lines.push(fence === undefined ? plainLine(line) : line);
  }
  return lines.join('\n');
}

function plainLine(line: string): string {
  return line
    .replace(/^[\s>]*\d+\. /, '')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\]\((?:<[^>]*>|(?:\w+:)[^)\s]*)\)/g, ']')
    .replaceAll(/\\(?=[^\w\s])/g, '');
}

export function scoreOf(shown: string, wanted: string): Score {
  const counts = new Map<string, number>();
  let total = 0;
  for (const word of wordsOf(wanted)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    total += 1;
  }
  let common = 0;
  let all = 0;
  for (const word of wordsOf(shown)) {
    all += 1;
    const left = counts.get(word) ?? 0;
    if (left === 0) continue;
    counts.set(word, left - 1);
    common += 1;
  }
  return { recall: total === 0 ? 1 : common / total, precision: all === 0 ? 1 : common / all };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

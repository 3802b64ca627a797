/** What a way of editing made of a text; `undefined` when it refused. */
export type Editor = (text: string, search: string, replace: string) => string | undefined;

/** The text must be there exactly once. */
export const exactSearchAndReplace: Editor = (text, search, replace) => {
  const at = text.indexOf(search);
  if (search === '' || at === -1 || text.indexOf(search, at + 1) !== -1) return undefined;
  return text.slice(0, at) + replace + text.slice(at + search.length);
};

/**
 * The method that Aider documents for its search/replace blocks, written anew: exact lines first;
 * then a spurious blank line at the start is left out; then lines whose leading white space is off by
 * the same amount throughout, which the replacement is given as well. The first place is taken.
 */
export const aiderMethod: Editor = (text, search, replace) => {
  const lines = withEnding(text);
  const [wanted, given] = [withEnding(search), withEnding(replace)];
  const direct = exactLines(lines, wanted, given) ?? shiftedLines(lines, wanted, given);
  if (direct !== undefined) return direct;
  if (wanted.length > 1 && wanted[0]?.trim() === '') {
    const fewer = wanted.slice(1);
    return exactLines(lines, fewer, given) ?? shiftedLines(lines, fewer, given);
  }
  return undefined;
};

function withEnding(text: string): string[] {
  const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return whole.split(/(?<=\n)/).filter((line) => line !== '');
}

function exactLines(lines: string[], wanted: string[], given: string[]): string | undefined {
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, offset) => lines[at + offset] === line)) {
      return [...lines.slice(0, at), ...given, ...lines.slice(at + wanted.length)].join('');
    }
  }
  return undefined;
}

function shiftedLines(lines: string[], wanted: string[], given: string[]): string | undefined {
  const widths = [...wanted, ...given].filter((line) => line.trim() !== '').map(leading);
  const least = Math.min(...widths);
  const out = (list: string[]) =>
    list.map((line) => (line.trim() === '' || !Number.isFinite(least) ? line : line.slice(least)));
  const [search, replace] = [out(wanted), out(given)];
  for (let at = 0; at + search.length <= lines.length; at += 1) {
    const added = commonAddition(lines.slice(at, at + search.length), search);
    if (added === undefined) continue;
    const moved = replace.map((line) => (line.trim() === '' ? line : added + line));
    return [...lines.slice(0, at), ...moved, ...lines.slice(at + search.length)].join('');
  }
  return undefined;
}

function commonAddition(found: string[], search: string[]): string | undefined {
  if (!found.every((line, at) => line.trimStart() === search[at]?.trimStart())) return undefined;
  const added = new Set(
    found.flatMap((line, at) => {
      const extra = line.length - (search[at]?.length ?? 0);
      return line.trim() === '' ? [] : [extra < 0 ? '\0' : line.slice(0, extra)];
    }),
  );
  const [only] = added;
  return added.size === 1 && only !== '\0' ? only : undefined;
}

function leading(line: string): number {
  return line.length - line.trimStart().length;
}

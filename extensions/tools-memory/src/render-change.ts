import { gist } from './render-memory.js';

const MAX_LINES = 12;
const LINE_CHARS = 200;

/** Renders the first lines that a change removes, and the first lines that it adds. */
export function renderChange({
  before,
  after,
}: {
  before: string | undefined;
  after: string | undefined;
}): string {
  const old = linesOf(before);
  const now = linesOf(after);
  let begin = 0;
  while (begin < old.length && begin < now.length && old[begin] === now[begin]) begin += 1;
  let end = 0;
  while (
    end < old.length - begin &&
    end < now.length - begin &&
    old.at(-1 - end) === now.at(-1 - end)
  ) {
    end += 1;
  }
  return [
    ...marked('-', old.slice(begin, old.length - end)),
    ...marked('+', now.slice(begin, now.length - end)),
  ].join('\n');
}

function linesOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split('\n');
}

function marked(mark: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) => `${mark} ${gist(line, LINE_CHARS)}`);
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...shown, `${mark} … ${more} more lines`] : shown;
}

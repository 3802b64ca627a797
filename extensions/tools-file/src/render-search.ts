import { hasInvisible, showHidden, takeEnd, takeStart } from '@ethosagent/policy';
import type { FileLines } from './file-lines.js';
import { displayPath } from './file-path.js';
import type { Hit } from './ripgrep-output.js';

const MAX_LINE_CHARS = 300;
const CHARS_BEFORE_MATCH = 100;

/** A file with matching lines. */
export interface FileHits {
  /** The absolute path of the file. */
  path: string;
  hits: readonly Hit[];
  /** The lines of the file; absent when it is too large to read. */
  lines?: FileLines;
}

/** Text that was cut to fit, if it was too long. */
export interface Rendered {
  text: string;
  /** How many of the parts the text has. The last one may be cut. */
  shown: number;
  /** Whether something was left out. */
  isCut: boolean;
}

function joinWithin(parts: Iterable<string>, separator: string, maxChars: number): Rendered {
  let text = '';
  let shown = 0;
  for (const part of parts) {
    const longer = shown === 0 ? part : text + separator + part;
    if (longer.length > maxChars) {
      return shown > 0
        ? { text, shown, isCut: true }
        : { text: takeStart(part, maxChars), shown: 1, isCut: true };
    }
    text = longer;
    shown += 1;
  }
  return { text, shown, isCut: false };
}

/** Renders one name per line. */
export function renderNames(names: readonly string[], maxChars: number): Rendered {
  return joinWithin(names.map(renderName), '\n', maxChars);
}

/**
 * Renders matching lines, grouped by file: `12:` before a matching line, `11-` before a line around
 * it, `--` between parts of a file. `shown` counts files.
 *
 * @param options.context how many lines to show before and after each match
 * @param options.workingDir paths below this folder are shown relative to it
 */
export function renderHits(
  files: readonly FileHits[],
  { context, workingDir, maxChars }: { context: number; workingDir: string; maxChars: number },
): Rendered {
  function* parts() {
    for (const file of files) yield renderFile(file, context, workingDir);
  }
  return joinWithin(parts(), '\n\n', maxChars);
}

/** Quotes a name that looks like several lines, or like another name. */
export function renderName(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) || hasInvisible(name)
    ? showHidden(JSON.stringify(name))
    : name;
}

function renderFile({ path, hits, lines }: FileHits, context: number, workingDir: string): string {
  const title = renderName(displayPath(workingDir, path));
  if (lines === undefined) {
    const numbers = hits.map(({ line }) => line).join(', ');
    return `${title}\n[too large to show; it matches in line ${numbers}]`;
  }
  const columns = new Map(hits.map(({ line, column }) => [line, column]));
  const rendered = [title];
  let last: number | undefined;
  for (const number of linesAround([...columns.keys()], context, lines)) {
    if (context > 0 && last !== undefined && number > last + 1) rendered.push('--');
    const column = columns.get(number);
    const line = lines(number) ?? '';
    rendered.push(`${number}${column === undefined ? '-' : ':'} ${renderLine(line, column ?? 1)}`);
    last = number;
  }
  return rendered.join('\n');
}

function linesAround(numbers: readonly number[], context: number, lines: FileLines): number[] {
  const around = new Set<number>();
  for (const number of numbers) {
    for (let near = Math.max(number - context, 1); near <= number + context; near += 1) {
      if (lines(near) === undefined) break;
      around.add(near);
    }
  }
  return [...around].sort((a, b) => a - b);
}

/** Renders a line. A long one is cut to the text around the match. */
function renderLine(line: string, column: number): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const match = Buffer.from(line)
    .subarray(0, column - 1)
    .toString().length;
  const from = Math.max(Math.min(match - CHARS_BEFORE_MATCH, line.length - MAX_LINE_CHARS), 0);
  const window = takeStart(takeEnd(line, line.length - from), MAX_LINE_CHARS);
  return `${from > 0 ? '…' : ''}${window}${from + MAX_LINE_CHARS < line.length ? '…' : ''}`;
}

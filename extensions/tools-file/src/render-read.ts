import { takeStart } from '@ethosagent/policy';
import { countLines, type Line, lineAt } from './text-lines.js';

/** How many lines are shown at most, unless the call asks for more. */
export const DEFAULT_LIMIT = 2_000;
/** A line is cut after this many characters. A longer line is data rather than text. */
export const MAX_LINE_CHARS = 4_000;
const NOTE_CHARS = 400;

export interface ReadRange {
  /** The number of the first line, counted from 1. */
  offset: number;
  /** How many lines to show at most. */
  limit: number;
  lineNumbers: boolean;
  /** How many characters the whole answer may have. */
  maxChars: number;
}

export interface RenderedRead {
  value: string;
  totalLines: number;
  /** The number of the first shown line, counted from 1; 0 when no line is shown. */
  startLine: number;
  endLine: number;
}

/**
 * Renders a range of lines, with their line endings as they are. When that is not the whole file, a
 * last line in brackets says which lines are shown, how many there are, and how to read on.
 *
 * @returns the text; `undefined` when the range starts after the last line
 */
export function renderRead(text: string, range: ReadRange): RenderedRead | undefined {
  const totalLines = countLines(text);
  if (totalLines === 0 && range.offset === 1) {
    return { value: '[the file is empty]', totalLines, startLine: 0, endLine: 0 };
  }
  if (range.offset > totalLines) return undefined;
  const room = Math.max(range.maxChars - NOTE_CHARS, 1);
  const shown: string[] = [];
  const cutLines: number[] = [];
  let length = 0;
  let start = 0;
  for (let number = 1; number < range.offset; number += 1) start = text.indexOf('\n', start) + 1;
  while (start < text.length && shown.length < range.limit) {
    const number = range.offset + shown.length;
    const line = lineAt(text, start);
    start = line.next;
    const { rendered, isCut } = renderLine(line, {
      ending: text.slice(line.end, line.next),
      prefix: range.lineNumbers ? `${number}\t` : '',
      room,
    });
    // The first line is always shown. Otherwise a model that reads on would never get past a long line.
    if (shown.length > 0 && length + rendered.length > room) break;
    shown.push(rendered);
    length += rendered.length;
    if (isCut) cutLines.push(number);
  }
  const startLine = range.offset;
  const endLine = range.offset + shown.length - 1;
  const notes = notesOf({ startLine, endLine, totalLines, cutLines });
  const body = shown.join('');
  const gap = body.endsWith('\n') ? '\n' : '\n\n';
  return {
    value: notes === '' ? body : `${body}${gap}[${notes}]`,
    totalLines,
    startLine,
    endLine,
  };
}

function renderLine(
  line: Line,
  { ending, prefix, room }: { ending: string; prefix: string; room: number },
): { rendered: string; isCut: boolean } {
  const maxChars = Math.max(Math.min(MAX_LINE_CHARS, room - prefix.length - 50), 1);
  const isCut = line.text.length > maxChars;
  const content = isCut
    ? `${takeStart(line.text, maxChars)}… [line cut: ${line.text.length} characters]`
    : line.text;
  return { rendered: prefix + content + ending, isCut };
}

function notesOf(shown: {
  startLine: number;
  endLine: number;
  totalLines: number;
  cutLines: readonly number[];
}): string {
  const { startLine, endLine, totalLines, cutLines } = shown;
  const notes: string[] = [];
  if (startLine > 1 || endLine < totalLines) {
    notes.push(`lines ${startLine}-${endLine} of ${totalLines} are shown`);
  }
  if (endLine < totalLines) notes.push(`read on with offset ${endLine + 1}`);
  if (cutLines.length > 0) {
    const some = cutLines.slice(0, 5).join(', ') + (cutLines.length > 5 ? ', …' : '');
    notes.push(`cut: line ${some}; search_files shows what is around a match in it`);
  }
  return notes.join('; ');
}

import { memoryHeadingKey, memoryText } from '@ethosagent/policy';
import type { MemorySection } from '@ethosagent/types';
import MarkdownIt from 'markdown-it';

/** A section of a Markdown text, with its place in UTF-16 units. */
export interface PlacedSection extends MemorySection {
  /** The heading in the text. An earlier section may have the same one. */
  written: string;
  /** The start of the heading's line. For the section without a heading, the start of its body. */
  start: number;
  /** The start of the line after the heading. */
  body: number;
  end: number;
}

export interface MarkdownSections {
  /** The end of a front matter and a byte order mark. */
  start: number;
  /**
   * The sections in the order of the text. The first one is the section without a heading, even if
   * it is empty.
   */
  sections: PlacedSection[];
}

interface Heading {
  written: string;
  start: number;
  body: number;
}

const FRONT_MATTER = /^---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)/;
const BYTE_ORDER_MARKS = /^\uFEFF*/;
const LINE_END = /\r\n|\r|\n/g;

// Only blocks are parsed: nothing within a line can begin a section.
const parser = new MarkdownIt('commonmark');
parser.core.ruler.enableOnly(['normalize', 'block']);
parser.block.ruler.disable('reference');

/**
 * Returns the sections of a Markdown text, each from a heading `## …` to the next one. Other
 * headings belong to the text of a section: headings of other levels, underlined ones, and those in
 * a quotation, a list, a code block or HTML.
 */
export function markdownSections(markdown: string): MarkdownSections {
  const start = lengthOf(markdown, BYTE_ORDER_MARKS);
  const front = lengthOf(markdown.slice(start), FRONT_MATTER);
  // A second byte order mark would hide a heading behind it.
  const first = start + front + lengthOf(markdown.slice(start + front), BYTE_ORDER_MARKS);
  const headings = headingsOf(markdown, first);
  const names = new Map<string, number>();
  const sections: PlacedSection[] = [];
  const heads = [{ written: '', start: first, body: first }, ...headings];
  heads.forEach((head, index) => {
    const end = heads[index + 1]?.start ?? markdown.length;
    const heading = index === 0 ? '' : unusedName(head.written, names);
    sections.push({ ...head, heading, end, text: memoryText(markdown.slice(head.body, end)) });
  });
  return { start: first, sections };
}

function headingsOf(markdown: string, from: number): Heading[] {
  const lines = lineStarts(markdown, from);
  const tokens = parser.parse(markdown.slice(from), {});
  return tokens.flatMap(({ type, level, markup, map }, index) => {
    const [line, next] = map ?? [0, 0];
    const written = tokens[index + 1]?.content ?? '';
    if (type !== 'heading_open' || level !== 0 || markup !== '##' || written === '') return [];
    const start = lines[line] ?? from;
    return [{ written, start, body: lines[next] ?? markdown.length }];
  });
}

/** Returns the offset at which each line starts. */
function lineStarts(markdown: string, from: number): number[] {
  const starts = [from];
  LINE_END.lastIndex = from;
  for (let end = LINE_END.exec(markdown); end !== null; end = LINE_END.exec(markdown)) {
    starts.push(LINE_END.lastIndex);
  }
  return starts;
}

/** Returns a unique name for a heading. If the name is taken, it gets a number. */
function unusedName(written: string, names: Map<string, number>): string {
  const key = memoryHeadingKey(written);
  let count = names.get(key) ?? 0;
  let name = written;
  do {
    count += 1;
    if (count > 1) name = `${written} (${count})`;
  } while (count > 1 && names.has(memoryHeadingKey(name)));
  names.set(key, count);
  if (count > 1) names.set(memoryHeadingKey(name), 1);
  return name;
}

function lengthOf(text: string, pattern: RegExp): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

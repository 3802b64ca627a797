import { takeStart } from '@ethosagent/policy';
import { EthosError, type MemorySection } from '@ethosagent/types';
import {
  type MarkdownSections,
  markdownSections,
  type PlacedSection,
} from './markdown-sections.js';

const MAX_NAMED_CHARS = 120;

/** The new text of a section, and the line ends of the file. */
interface NewText {
  readonly text: string;
  readonly eol: string;
}

/**
 * Turns the sections of a Markdown text into those of a memory after a change. What did not change
 * stays the same, byte for byte. New text gets the line ends of the file.
 *
 * @param after the result of `applyMemoryChange` for the present sections of the text
 * @throws `VALUE_INVALID` if the text would no longer be read as these sections: one contains the
 * heading of a section, or opens a block that does not end with it
 */
export function editMarkdown(
  markdown: string,
  before: MarkdownSections,
  after: readonly MemorySection[],
): string {
  const eol = markdown.includes('\r\n') ? '\r\n' : '\n';
  const wanted = new Map(after.map((section) => [section.heading, section]));
  let out = markdown.slice(0, before.start);
  for (const section of before.sections) {
    const next = wanted.get(section.heading);
    wanted.delete(section.heading);
    if (next !== undefined) out += withText(markdown, section, { text: next.text, eol });
    else if (section.heading === '') out += withText(markdown, section, { text: '', eol });
  }
  for (const section of wanted.values()) out = withSection(out, section, eol);
  const edit = { front: markdown.slice(0, before.start), eol, before, after };
  if (!readsAs(out, edit)) throw unreadable(openSection(markdown, before, eol));
  // An open block would include whatever section comes next.
  if (openSection(out, markdownSections(out), eol) !== undefined) {
    if (openSection(markdown, before, eol) === undefined) throw unreadable(undefined);
  }
  return out;
}

/**
 * Writes a section with another text. The parts in which the two texts are equal stay as they were
 * written.
 */
function withText(markdown: string, section: PlacedSection, { text, eol }: NewText): string {
  const head = markdown.slice(section.start, section.body);
  const body = markdown.slice(section.body, section.end);
  if (text === section.text) return head + body;
  if (section.text === '') return head + newBody(markdown, section, { text, eol });
  const old = section.text;
  const lead = /^(?:[ \t]*(?:\r\n|\r|\n))+/.exec(body)?.[0].length ?? 0;
  let same = 0;
  while (same < old.length && old[same] === text[same]) same += 1;
  let tail = 0;
  const most = Math.min(old.length, text.length) - same;
  while (tail < most && old.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  const from = placeOf(body, lead, same);
  const to = placeOf(body, lead, old.length - tail);
  const changed = text.slice(same, text.length - tail).replaceAll('\n', eol);
  return head + body.slice(0, from) + changed + body.slice(to);
}

/**
 * Converts an offset in the text to one in the body. In the text, every line end is one character.
 */
function placeOf(body: string, lead: number, offset: number): number {
  let at = lead;
  for (let left = offset; left > 0; left -= 1) at += body.startsWith('\r\n', at) ? 2 : 1;
  return at;
}

/** Writes the first text of a section that was empty. */
function newBody(markdown: string, section: PlacedSection, { text, eol }: NewText): string {
  const above = markdown.slice(0, section.body);
  const isLine = above === '' || /[\r\n\uFEFF]$/.test(above);
  const gap = section.heading === '' ? '' : eol;
  const rest = section.end === markdown.length ? eol : eol + eol;
  return `${isLine ? '' : eol}${gap}${text.replaceAll('\n', eol)}${rest}`;
}

function withSection(markdown: string, { heading, text }: MemorySection, eol: string): string {
  const body = text === '' ? '' : eol + text.replaceAll('\n', eol) + eol;
  return `${markdown}${gapAfter(markdown, eol)}## ${heading}${eol}${body}`;
}

/** Returns the line ends that are missing for a blank line at the end of a text. */
function gapAfter(markdown: string, eol: string): string {
  if (/^\uFEFF?$/.test(markdown) || /(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)$/.test(markdown)) return '';
  return /[\r\n]$/.test(markdown) ? eol : eol + eol;
}

function readsAs(
  markdown: string,
  {
    front,
    eol,
    before,
    after,
  }: {
    front: string;
    eol: string;
    before: MarkdownSections;
    after: readonly MemorySection[];
  },
): boolean {
  const written = new Map(before.sections.map((section) => [section.heading, section.written]));
  const found = markdownSections(markdown);
  const actual = found.sections.filter(({ heading, text }) => heading !== '' || text !== '');
  return (
    [front, front + eol].includes(markdown.slice(0, found.start)) &&
    actual.length === after.length &&
    actual.every((section, index) => {
      const wanted = after[index];
      return (
        wanted !== undefined &&
        section.text === wanted.text &&
        section.written === (written.get(wanted.heading) ?? wanted.heading)
      );
    })
  );
}

/** Returns the last section, if a section after it would be read as part of it. */
function openSection(
  markdown: string,
  { sections }: MarkdownSections,
  eol: string,
): PlacedSection | undefined {
  const more = markdownSections(withSection(markdown, { heading: 'next', text: '' }, eol));
  return more.sections.length > sections.length ? undefined : sections.at(-1);
}

function unreadable(open: PlacedSection | undefined): EthosError {
  if (open !== undefined) {
    const name = open.heading === '' ? 'the text before the first heading' : quoted(open.heading);
    return new EthosError(
      'VALUE_INVALID',
      `${name} opens a code fence or an HTML block that nothing closes, which hides what comes after it in the Markdown file: close it there first`,
    );
  }
  return new EthosError(
    'VALUE_INVALID',
    'the text would change other sections of the Markdown file: leave out headings of level 2 (`##`) outside code, close each code fence and HTML block, and write headings in plain words',
  );
}

function quoted(heading: string): string {
  return `section ${JSON.stringify(takeStart(heading, MAX_NAMED_CHARS))}`;
}

import { EthosError, type MemoryChange, type MemorySection } from '@ethosagent/types';
import { takeStart } from './text/cut-text.js';

/** Caps of a memory, in characters (UTF-16 units). */
export interface MemoryLimits {
  /** The text of one section. */
  maxSectionChars: number;
  /** All headings and texts together. */
  maxDocumentChars: number;
}

/** 20,000 characters a section, 1,000,000 a memory. */
export const DEFAULT_MEMORY_LIMITS: MemoryLimits = {
  maxSectionChars: 20_000,
  maxDocumentChars: 1_000_000,
};

const MAX_HEADING_CHARS = 200;
const NOT_IN_HEADING = /[\p{Cc}\u2028\u2029]/u;

/**
 * The form of a heading for comparing: case, Unicode form and outer white space don't count.
 *
 * @param heading as somebody wrote it
 * @returns the text to compare
 */
export function memoryHeadingKey(heading: string): string {
  return heading.trim().normalize('NFC').toLowerCase();
}

/**
 * A text as a memory keeps it: lines end in LF, and no blank lines are around it.
 *
 * @param text as somebody wrote it
 * @returns the text to store
 */
export function memoryText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

/**
 * Characters of all headings and texts.
 *
 * @param sections of one memory
 * @returns UTF-16 code units
 */
export function memorySizeChars(sections: readonly MemorySection[]): number {
  return sections.reduce((sum, { heading, text }) => sum + heading.length + text.length, 0);
}

/**
 * A memory after a change. A section without a heading stands first and is there when it has text.
 *
 * @param sections the memory before
 * @param change a section or a text to match, and what to do there
 * @param limits in characters
 * @returns the sections after the change; those given stay as they are
 * @throws `MEMORY_NOT_FOUND` where nothing has the heading or the text
 * @throws `MEMORY_AMBIGUOUS` where the text is in more than one place
 * @throws `MEMORY_TOO_LARGE` where a section or the whole goes over its cap
 * @throws `VALUE_INVALID` for a change that says neither section nor match, an empty match, or an
 * invalid heading
 */
export function applyMemoryChange(
  sections: readonly MemorySection[],
  change: MemoryChange,
  limits: MemoryLimits,
): MemorySection[] {
  const changed = changeSections(sections, change)
    .map(({ heading, text }) => ({ heading, text: memoryText(text) }))
    .filter(({ heading, text }) => heading !== '' || text !== '');
  assertFits(sections, changed, limits);
  return changed;
}

function changeSections(sections: readonly MemorySection[], change: MemoryChange): MemorySection[] {
  if (change.kind === 'add') return addTo(sections, change.section, change.text);
  const text = change.kind === 'replace' ? memoryText(change.text) : '';
  if (change.match !== undefined) {
    const match = change.match.toWellFormed().replace(/\r\n?/g, '\n');
    const place = findMatch(sections, change.section, match);
    return sections.map((section, index) =>
      index === place.index
        ? {
            ...section,
            text:
              section.text.slice(0, place.offset) +
              text +
              section.text.slice(place.offset + match.length),
          }
        : section,
    );
  }
  if (change.section === undefined) {
    throw invalid('a change names a section, a text to match, or both');
  }
  const index = indexOfSection(sections, change.section);
  if (index === -1) throw noSection(change.section);
  if (change.kind === 'remove') return sections.filter((_, each) => each !== index);
  return sections.map((section, each) => (each === index ? { ...section, text } : section));
}

function addTo(sections: readonly MemorySection[], heading: string, text: string) {
  const paragraph = memoryText(text);
  const index = indexOfSection(sections, heading);
  if (index === -1) {
    const section = { heading: assertHeading(heading), text: paragraph };
    return section.heading === '' ? [section, ...sections] : [...sections, section];
  }
  return sections.map((section, each) =>
    each === index
      ? { ...section, text: [section.text, paragraph].filter((part) => part !== '').join('\n\n') }
      : section,
  );
}

function findMatch(
  sections: readonly MemorySection[],
  heading: string | undefined,
  match: string,
): { index: number; offset: number } {
  if (match === '') throw invalid('the text to match is empty');
  const only = heading === undefined ? undefined : indexOfSection(sections, heading);
  if (heading !== undefined && only === -1) throw noSection(heading);
  const places = sections.flatMap(({ text }, index) => {
    if (only !== undefined && index !== only) return [];
    const first = text.indexOf(match);
    if (first === -1) return [];
    const isTwice = text.indexOf(match, first + 1) !== -1;
    return isTwice
      ? [
          { index, offset: first },
          { index, offset: first },
        ]
      : [{ index, offset: first }];
  });
  const [place, another] = places;
  if (place === undefined) {
    throw new EthosError(
      'MEMORY_NOT_FOUND',
      'the text to match is not in the memory; read it again and give the text as it stands there',
    );
  }
  if (another !== undefined) {
    throw new EthosError(
      'MEMORY_AMBIGUOUS',
      'the text to match is in more than one place; give more of the text around it, or its section',
    );
  }
  return place;
}

function indexOfSection(sections: readonly MemorySection[], heading: string): number {
  const key = memoryHeadingKey(heading);
  return sections.findIndex((section) => memoryHeadingKey(section.heading) === key);
}

function assertHeading(heading: string): string {
  const trimmed = heading.trim();
  if (!trimmed.isWellFormed() || NOT_IN_HEADING.test(trimmed)) {
    throw invalid('a heading is one line of text');
  }
  if (trimmed.length > MAX_HEADING_CHARS) {
    throw invalid(`a heading has at most ${MAX_HEADING_CHARS} characters`);
  }
  return trimmed;
}

/** A section that an edit from outside made too large may still be made smaller. */
function assertFits(
  before: readonly MemorySection[],
  after: readonly MemorySection[],
  { maxSectionChars, maxDocumentChars }: MemoryLimits,
): void {
  for (const { heading, text } of after) {
    if (text.length <= maxSectionChars) continue;
    const old = before[indexOfSection(before, heading)]?.text.length ?? 0;
    if (text.length > old) throw tooLarge('the section', text.length, maxSectionChars);
  }
  const size = memorySizeChars(after);
  if (size > maxDocumentChars && size > memorySizeChars(before)) {
    throw tooLarge('the memory', size, maxDocumentChars);
  }
}

function tooLarge(what: string, size: number, cap: number): EthosError {
  return new EthosError(
    'MEMORY_TOO_LARGE',
    `${what} would have ${size} characters, the cap is ${cap}; shorten it or remove what is no longer needed`,
  );
}

function noSection(heading: string): EthosError {
  return new EthosError(
    'MEMORY_NOT_FOUND',
    `the memory has no section "${takeStart(heading, MAX_HEADING_CHARS)}"; read it to see which it has`,
  );
}

function invalid(detail: string): EthosError {
  return new EthosError('VALUE_INVALID', detail);
}

/**
 * Whether two states of a memory have the same sections in the same order.
 *
 * @param before one state
 * @param after the other
 */
export function isSameMemory(
  before: readonly MemorySection[],
  after: readonly MemorySection[],
): boolean {
  return (
    before.length === after.length &&
    before.every(
      ({ heading, text }, index) =>
        heading === after[index]?.heading && text === after[index]?.text,
    )
  );
}

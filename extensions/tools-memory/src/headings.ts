import { editDistance, takeStart } from '@ethosagent/policy';
import type { MemorySection } from '@ethosagent/types';

/** The name that stands for a section without a heading, in answers and in arguments. */
const UNTITLED = '(untitled)';

const MAX_LISTED = 12;
// A person may have written a longer name into the file; it is cut here.
const MAX_NAME_CHARS = 120;

export function nameOf(heading: string): string {
  return heading === '' ? UNTITLED : heading;
}

/** Returns a heading in its stored form: on one line, without the marks of Markdown. */
export function toHeading(given: string): string {
  const heading = given
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^#{1,6}\s+/, '')
    .replace(/\s+#+$/, '');
  return heading === UNTITLED ? '' : heading;
}

export function findSection(
  sections: readonly MemorySection[],
  heading: string,
): MemorySection | undefined {
  const wanted = heading.toLowerCase();
  return sections.find((section) => section.heading.toLowerCase() === wanted);
}

/**
 * Says that there is no such section, and lists the sections that exist, the most similar first.
 */
export function noSuchSection(sections: readonly MemorySection[], heading: string): string {
  if (sections.length === 0) return 'The memory is empty.';
  const wanted = heading.toLowerCase();
  const byLikeness = sections
    .map((section) => ({
      name: JSON.stringify(nameOf(takeStart(section.heading, MAX_NAME_CHARS))),
      far: farness(section.heading.toLowerCase(), wanted),
    }))
    .sort((a, b) => a.far - b.far)
    .map(({ name }) => name);
  const listed = byLikeness.slice(0, MAX_LISTED).join(', ');
  const more = byLikeness.length - MAX_LISTED;
  return `There is no section ${JSON.stringify(nameOf(takeStart(heading, MAX_NAME_CHARS)))}. Nearest: ${listed}${more > 0 ? ` and ${more} more` : ''}.`;
}

function farness(heading: string, wanted: string): number {
  const isPart = wanted !== '' && (heading.includes(wanted) || wanted.includes(heading || '\0'));
  return editDistance(heading.slice(0, 100), wanted.slice(0, 100)) - (isPart ? 100 : 0);
}

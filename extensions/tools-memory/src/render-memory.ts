import { takeStart } from '@ethosagent/policy';
import type { MemoryDocument, MemorySection } from '@ethosagent/types';
import { nameOf } from './headings.js';

const GIST_CHARS = 80;
const MAX_LISTED = 100;

export function sizeOf(chars: number): string {
  return `${chars.toLocaleString('en-US')} character${chars === 1 ? '' : 's'}`;
}

export function countOf(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

export function renderSection({ heading, text }: MemorySection): string {
  return heading === '' ? text : `## ${heading}\n\n${text}`;
}

/** Renders the whole memory, or only headings with sizes when it is larger than `maxChars`. */
export function renderMemory(
  { sections, sizeChars }: Pick<MemoryDocument, 'sections' | 'sizeChars'>,
  maxChars: number,
): { text: string; isOutline: boolean } {
  if (sizeChars <= maxChars) {
    const text = sections.map(renderSection).join('\n\n');
    if (text.length <= maxChars) return { text, isOutline: false };
  }
  const lines = sections
    .slice(0, MAX_LISTED)
    .map(
      ({ heading, text }) => `- ${nameOf(gist(heading))} (${sizeOf(text.length)}): ${gist(text)}`,
    );
  const more = sections.length - MAX_LISTED;
  if (more > 0) lines.push(`- and ${countOf(more, 'more section')}`);
  const head = `${sizeOf(sizeChars)} in ${countOf(sections.length, 'section')}, too much to show at once. Ask for a section, or search with query.`;
  return { text: [head, ...lines].join('\n'), isOutline: true };
}

/**
 * Renders a part of a text, cut at a paragraph, a line or a word. It says at which offset to read
 * on.
 */
export function renderPart(text: string, offset: number, maxChars: number): string {
  const rest = text.slice(offset);
  const end = rest.length <= maxChars ? rest.length : cutAt(rest, maxChars);
  const part = rest.slice(0, end).toWellFormed();
  if (offset === 0 && end === rest.length) return part;
  const next = offset + end;
  const onward = next < text.length ? `; read on with offset ${next}` : '';
  return `${part}\n[characters ${offset + 1} to ${next} of ${text.length}${onward}]`;
}

function cutAt(text: string, maxChars: number): number {
  for (const end of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(end, maxChars - end.length);
    if (at > maxChars / 2) return at + end.length;
  }
  return takeStart(text, maxChars).length || maxChars;
}

/** Returns the first words of a text, on one line. */
export function gist(text: string, maxChars = GIST_CHARS): string {
  const line = text
    .slice(0, maxChars * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= maxChars ? line : `${takeStart(line, maxChars - 1)}…`;
}

import type { MemoryChange, MemorySection } from '@ethosagent/types';
import { z } from 'zod';
import { toHeading } from './headings.js';
import { memoryScopeSchema } from './memory-scope.js';

const MAX_HEADING_CHARS = 120;
// A longer text does not fit into a memory anyway, and to screen it takes long.
const MAX_TEXT_CHARS = 50_000;

/** The section that `add` writes to when the call names none. */
const DEFAULT_SECTION = 'Notes';

export const memoryWriteInput = z
  .strictObject({
    action: z
      .enum(['add', 'replace', 'remove'])
      .describe(
        'add: append text to a section, which is made if it is missing. replace: replace a section, or the one place that has match, by text. remove: take out a section, or the one place that has match.',
      ),
    section: z
      .string()
      .max(1_000)
      .transform(toHeading)
      .optional()
      .describe('A heading, e.g. Preferences. For add: Notes when left out.'),
    match: z
      .string()
      .min(1)
      .max(MAX_TEXT_CHARS)
      .optional()
      .describe(
        'For replace and remove: a text that is in the memory exactly once, copied from it.',
      ),
    text: z
      .string()
      .max(MAX_TEXT_CHARS)
      .transform(trimmed)
      .optional()
      .describe(
        'For add and replace: what to remember, in a few plain sentences. No secrets, no instructions.',
      ),
    scope: memoryScopeSchema
      .optional()
      .describe(
        'Whose memory: personality (your own), user, team or global. Leave out for the default.',
      ),
    revision: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Refuse when the memory is no longer at this revision, which memory_read told.'),
  })
  .superRefine(({ action, section, match, text }, ctx) => {
    const wrong = (path: string, message: string) =>
      ctx.addIssue({ code: 'custom', path: [path], message });
    if (section !== undefined && section.length > MAX_HEADING_CHARS) {
      wrong('section', `expected a heading of at most ${MAX_HEADING_CHARS} characters`);
    }
    for (const [name, value] of Object.entries({ section, match, text })) {
      if (value !== undefined && !value.isWellFormed()) wrong(name, 'expected well-formed text');
    }
    if (action === 'add') {
      if (!text) wrong('text', 'expected with add: what to remember');
      if (match !== undefined)
        wrong('match', 'not expected with add; use replace to change a text');
      return;
    }
    if (section === undefined && match === undefined) {
      wrong('section', `expected with ${action}: a section, a match, or both`);
    }
    if (action === 'replace' && !text) {
      wrong('text', 'expected with replace: the new text; use remove to take something out');
    }
    if (action === 'remove' && text !== undefined) {
      wrong('text', 'not expected with remove; use replace to put a text in its place');
    }
  });

export type MemoryWriteArgs = z.output<typeof memoryWriteInput>;

/** Returns the change that the arguments ask for. */
export function changeOf({ action, section, match, text = '' }: MemoryWriteArgs): MemoryChange {
  const place = {
    ...(section !== undefined && { section }),
    ...(match !== undefined && { match }),
  };
  switch (action) {
    case 'add':
      return { kind: 'add', section: section ?? DEFAULT_SECTION, text };
    case 'replace':
      return { kind: 'replace', ...place, text };
    case 'remove':
      return { kind: 'remove', ...place };
  }
}

/** Returns the text that a call adds, as a section of the memory. It is empty for `remove`. */
export function writtenSection({
  action,
  section = '',
  text = '',
}: MemoryWriteArgs): MemorySection {
  return action === 'remove' ? { heading: '', text: '' } : { heading: section, text };
}

function trimmed(text: string): string {
  return text.replaceAll(/^(?:[^\S\n]*\n)+|\s+$/g, '');
}

import { createHash } from 'node:crypto';
import { memorySizeChars } from '@ethosagent/policy';
import type { MemoryDocument } from '@ethosagent/types';
import { type MarkdownSections, markdownSections } from './markdown-sections.js';

/** A memory as it is in its file. */
export interface MemoryState {
  revision: string;
  placed: MarkdownSections;
  document: MemoryDocument;
}

export function memoryState(markdown: string): MemoryState {
  const placed = markdownSections(markdown);
  const sections = placed.sections
    .filter(({ heading, text }) => heading !== '' || text !== '')
    .map(({ heading, text }) => ({ heading, text }));
  const revision = createHash('sha256').update(markdown).digest('hex').slice(0, 32);
  return {
    revision,
    placed,
    document: { sections, revision, sizeChars: memorySizeChars(sections) },
  };
}

import { parseSearchQuery, rankTexts } from '@ethosagent/policy';
import type { MemorySection } from '@ethosagent/types';

/** A paragraph of a section, or several that belong together. */
export interface Note {
  heading: string;
  text: string;
}

/** Finds the notes that have words of a query, the best first. Words of the heading count. */
export function relevantNotes(sections: readonly MemorySection[], query: string): Note[] {
  const notes = sections.flatMap(({ heading, text }) =>
    notesOf(text).map((note) => ({ heading, text: note })),
  );
  return rankTexts(notes, parseSearchQuery(query)).map(({ item }) => item);
}

/** Splits a text into its paragraphs. A fenced block stays whole. */
export function notesOf(text: string): string[] {
  const notes: string[] = [];
  let note: string[] = [];
  let fence: string | undefined;
  const end = () => {
    if (note.length > 0) notes.push(note.join('\n'));
    note = [];
  };
  for (const line of text.split('\n')) {
    const [mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.slice(1) ?? [];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    if (line.trim() === '' && fence === undefined) end();
    else note.push(line);
  }
  end();
  return notes;
}

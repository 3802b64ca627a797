import { indexedWords } from '@ethosagent/policy';
import type { MemorySection } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import type { SearchIndex } from './search-query.js';

/** The index of the sections of all memories. */
export const SECTION_INDEX: SearchIndex = {
  table: 'section_words',
  words: ['heading', 'words'],
  weights: [0, 2, 1, 0.9],
};

/** Prepares the statements that update the index of sections. */
export function prepareSectionWords(db: Connection) {
  const add = db.prepare<[number | bigint, string, string, string, string]>(
    'INSERT INTO section_words (rowid, facts, heading, words, stems) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = db.prepare<[id: number]>('DELETE FROM section_words WHERE rowid = ?');
  return {
    add(id: number | bigint, { memory, heading, text }: MemorySection & { memory: number }): void {
      const [head, body] = [indexedWords(heading), indexedWords(text)];
      const stems = `${head.stems} ${body.stems}`;
      add.run(id, memoryFact(memory), head.words, body.words, stems);
    },
    remove(id: number): void {
      remove.run(id);
    },
  };
}

/** Returns the memory of a section as a word of the index. */
export function memoryFact(memory: number): string {
  return `memory${memory}`;
}

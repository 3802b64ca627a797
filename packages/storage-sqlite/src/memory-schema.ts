import type { Connection } from './driver/connection.js';
import { prepareSectionWords } from './section-words.js';
import type { Migration, StoreSchema } from './store-schema.js';
import { hasTwoWordCharacter } from './two-word-characters.js';

const MIGRATIONS: readonly Migration[] = [
  // `section_words` is built like the index of messages. It contains the words that `searchWords`
  // gives, and the memory of a section as a word.
  `CREATE TABLE memory (
     id INTEGER PRIMARY KEY,
     scope_id TEXT NOT NULL UNIQUE,
     revision INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE section (
     id INTEGER PRIMARY KEY,
     memory INTEGER NOT NULL REFERENCES memory (id),
     position INTEGER NOT NULL,
     heading TEXT NOT NULL,
     text TEXT NOT NULL
   ) STRICT;
   CREATE INDEX section_by_memory ON section (memory, position);
   CREATE TABLE version (
     memory INTEGER NOT NULL REFERENCES memory (id),
     revision INTEGER NOT NULL,
     replaced_at INTEGER NOT NULL,
     sections TEXT NOT NULL,
     PRIMARY KEY (memory, revision)
   ) STRICT, WITHOUT ROWID;
   CREATE VIRTUAL TABLE section_words USING fts5 (
     facts, heading, words, content = '', contentless_delete = 1, tokenize = 'ascii'
   );`,
  // `stems` has the other forms of the words in heading and text.
  (db) => {
    db.exec(`DROP TABLE section_words;
      CREATE VIRTUAL TABLE section_words USING fts5 (
        facts, heading, words, stems, content = '', contentless_delete = 1, tokenize = 'ascii'
      );`);
    indexSections(db, 'true');
  },
  // Characters that `searchWords` began to read as two words.
  (db) => indexSections(db, `${hasTwoWordCharacter('heading')} OR ${hasTwoWordCharacter('text')}`),
];

/** @param isMeant SQL about a section: which sections are indexed anew */
function indexSections(db: Connection, isMeant: string): void {
  const words = prepareSectionWords(db);
  const sections = db.prepare<[], { id: number; memory: number; heading: string; text: string }>(
    `SELECT id, memory, ${db.text('heading')} AS heading, ${db.text('text')} AS text FROM section
     WHERE ${isMeant}`,
  );
  for (const { id, ...section } of sections.all()) {
    words.remove(id);
    words.add(id, section);
  }
}

/** Memories in sections. The application id is "EthM" in ASCII. */
export const MEMORY_SCHEMA: StoreSchema = { applicationId: 0x4574684d, migrations: MIGRATIONS };

import { indexedWords } from '@ethosagent/policy';
import type { MessageRole } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import { LIMIT } from './limit.js';
import { prepareIndexing } from './message-index.js';
import type { Migration, StoreSchema } from './store-schema.js';
import { hasTwoWordCharacter } from './two-word-characters.js';

const MIGRATIONS: readonly Migration[] = [
  // Long columns come last, so that a filter never reads the overflow pages of a large text.
  //
  // `message_words` contains the words of each message as `searchWords` gives them, so its own
  // tokenizer only splits at spaces. It also contains the facts for filters as words. So the index
  // applies the filters before any message is read. It stores no text.
  `CREATE TABLE owner (
     id INTEGER PRIMARY KEY,
     identity TEXT NOT NULL UNIQUE
   ) STRICT;
   CREATE TABLE session (
     id INTEGER PRIMARY KEY,
     session_id TEXT NOT NULL UNIQUE,
     owner INTEGER NOT NULL REFERENCES owner (id),
     started_at INTEGER NOT NULL,
     last_message_at INTEGER NOT NULL,
     message_count INTEGER NOT NULL,
     key TEXT,
     personality_id TEXT
   ) STRICT;
   CREATE INDEX session_by_time ON session (last_message_at);
   CREATE INDEX session_by_owner ON session (owner, last_message_at);
   CREATE TABLE message (
     id INTEGER PRIMARY KEY,
     session INTEGER NOT NULL REFERENCES session (id),
     sequence INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     role TEXT NOT NULL,
     tool_name TEXT,
     text TEXT NOT NULL,
     data TEXT,
     UNIQUE (session, sequence)
   ) STRICT;
   CREATE INDEX message_by_time ON message (session, created_at);
   CREATE VIRTUAL TABLE message_words USING fts5 (
     facts, words, content = '', contentless_delete = 1, tokenize = 'ascii'
   );`,
  // A claim may be stored before the first message. An epoch is never used twice, even for a
  // session that was removed and created again.
  `ALTER TABLE session ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE session ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE last_epoch (epoch INTEGER NOT NULL) STRICT;
   INSERT INTO last_epoch (epoch) VALUES (0);`,
  // `stems` has the other forms of the words.
  (db) => {
    db.exec(`DROP TABLE message_words;
      CREATE VIRTUAL TABLE message_words USING fts5 (
        facts, words, stems, content = '', contentless_delete = 1, tokenize = 'ascii'
      );`);
    indexMessages(db, 'true');
  },
  // Characters that `searchWords` began to read as two words.
  (db) => {
    const isMeant = hasTwoWordCharacter('m.text');
    db.exec(
      `DELETE FROM message_words WHERE rowid IN (SELECT m.id FROM message AS m WHERE ${isMeant})`,
    );
    indexMessages(db, isMeant);
  },
];

/** The number of messages that are read at once. A text may have a million characters. */
const PAGE = 50;

/** @param isMeant SQL about a message `m`: which messages are added to the index */
function indexMessages(db: Connection, isMeant: string): void {
  const page = db.prepare<
    [after: number, limit: number],
    { id: number; owner: number; session: number; role: MessageRole; text: string }
  >(
    `SELECT m.id AS id, s.owner AS owner, m.session AS session, m.role AS role,
       ${db.text('m.text')} AS text
     FROM message AS m JOIN session AS s ON s.id = m.session
     WHERE m.id > ? AND (${isMeant}) ORDER BY m.id ${LIMIT}`,
  );
  const addToIndex = prepareIndexing(db);
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = page.all(last, PAGE);
    for (const { id, text, ...facts } of rows) {
      addToIndex(id, facts, indexedWords(text));
      last = id;
    }
    if (rows.length < PAGE) return;
  }
}

/** The messages of sessions. The application id is "EthS" in ASCII. */
export const SESSION_SCHEMA: StoreSchema = { applicationId: 0x45746853, migrations: MIGRATIONS };

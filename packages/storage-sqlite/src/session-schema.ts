import type { StoreSchema } from './store-schema.js';

const MIGRATIONS: readonly string[] = [
  // What is long stands last, so that a filter never follows the overflow chain of a large text.
  //
  // `message_words` has the words of each message as `searchWords` gives them, so that its own
  // tokenizer only splits at the spaces, and the facts that a search filters by as words too: the
  // index then meets them with the query before any message is read. It keeps no text of its own.
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
  // A claim may be there before the first message is. An epoch is never given twice, also not to a
  // session that was removed and made again.
  `ALTER TABLE session ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE session ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE last_epoch (epoch INTEGER NOT NULL) STRICT;
   INSERT INTO last_epoch (epoch) VALUES (0);`,
];

/** Messages of sessions. Its mark is "EthS" in ASCII. */
export const SESSION_SCHEMA: StoreSchema = { applicationId: 0x45746853, migrations: MIGRATIONS };

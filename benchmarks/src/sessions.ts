import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteSessionStore, type SqliteSessionStore } from '@ethosagent/storage-sqlite';
import type { SessionOwner } from '@ethosagent/types';
import Database from 'better-sqlite3';
import { sideBySide } from './side-by-side.js';

const MESSAGES = 100_000;
const PER_SESSION = 100;
const OWNERS = 10;
const VOCABULARY = 20_000;

const owner: SessionOwner = { scopeId: 'personality:3' };

/** Searching 100,000 messages beside raw FTS5: the same texts, `unicode61`, `bm25`, `snippet`. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sessions-'));
  const store = createSqliteSessionStore({
    path: join(folder, 'ours.db'),
    synchronous: 'normal',
  });
  const raw = openRaw(join(folder, 'raw.db'));
  try {
    await fill(store, raw);
    // Below a millisecond there is no goal: the snippets take this time, not the search.
    for (const [name, query, goal] of [
      ['a word of every message', 'common', 1.5],
      ['a frequent word and every message', 'common w5', 1.5],
      ['a rare word', 'wf00', undefined],
      ['a word that is nowhere', 'absent', undefined],
    ] as const) {
      await sideBySide(`Session search, ${MESSAGES} messages: ${name}`, [
        { name: 'raw FTS5', operations: 1, run: () => raw.search.all(query, -1) },
        {
          name: 'SessionStore.search',
          operations: 1,
          run: () => store.search(query),
          ...(goal && { goal: { atMost: goal, of: 'raw FTS5' } }),
        },
        { name: 'raw FTS5, one owner of ten', operations: 1, run: () => raw.search.all(query, 3) },
        {
          name: 'SessionStore.search, one owner of ten',
          operations: 1,
          run: () => store.search(query, { owner }),
          ...(goal && { goal: { atMost: goal, of: 'raw FTS5, one owner of ten' } }),
        },
      ]);
      console.log(
        `  one owner of ten, 95th percentile of 100: ${await percentile95(store, query)} ms`,
      );
    }
  } finally {
    store.close();
    raw.db.close();
    rmSync(folder, { recursive: true });
  }
}

async function fill(store: SqliteSessionStore, raw: ReturnType<typeof openRaw>): Promise<void> {
  const random = numbers();
  for (let session = 0; session < MESSAGES / PER_SESSION; session++) {
    const texts = Array.from({ length: PER_SESSION }, () => textOf(random));
    const of = session % OWNERS;
    await store.append(
      { id: `session-${session}`, scopeId: `personality:${of}` },
      texts.map((text) => ({ role: 'user', text })),
    );
    raw.append(texts, of);
  }
}

async function percentile95(store: SqliteSessionStore, query: string): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    const start = performance.now();
    await store.search(query, { owner });
    times.push(performance.now() - start);
  }
  return (times.sort((a, b) => a - b)[94] ?? Number.NaN).toFixed(1);
}

function openRaw(path: string) {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec(
    `CREATE TABLE message (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, text TEXT NOT NULL);
     CREATE VIRTUAL TABLE words USING fts5 (text, content = 'message', content_rowid = 'id');`,
  );
  const addMessage = db.prepare('INSERT INTO message (owner, text) VALUES (?, ?)');
  const addWords = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  return {
    db,
    append: db.transaction((texts: string[], of: number) => {
      for (const text of texts) addWords.run(addMessage.run(of, text).lastInsertRowid, text);
    }),
    search: db.prepare(
      `SELECT m.*, bm25(words) AS score, snippet(words, 0, '[', ']', '…', 40)
       FROM words JOIN message AS m ON m.id = words.rowid
       WHERE words MATCH ? AND ? IN (-1, m.owner) ORDER BY rank LIMIT 20`,
    ),
  };
}

/** Sixty words, the first ones of the vocabulary far more often than the last. */
function textOf(random: () => number): string {
  const words = Array.from(
    { length: 60 },
    () => `w${Math.floor(VOCABULARY * random() ** 3).toString(36)}`,
  );
  return `common ${words.join(' ')}`;
}

/** The same numbers in every run (Lehmer's generator). */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

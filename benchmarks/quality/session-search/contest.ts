import { createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import type { SessionStore } from '@ethosagent/types';
import Database from 'better-sqlite3';
import type { Passage } from './corpus.js';
import type { Question } from './questions.js';

/** Places of a list that are looked at. */
const PLACES = 20;
const OWNER = { scopeId: 'personality:reader' };

/** Gives the indexes of the passages that it finds, the best first. */
export type Searcher = (query: string) => Promise<readonly number[]>;

/** How one way of searching did. */
export interface Score {
  name: string;
  /** The mean of one over the place of the first answer; 0 where none is among the first twenty. */
  meanReciprocalRank: number;
  /** Questions whose answer came first, and among the first ten. */
  first: number;
  inTen: number;
}

/** Asks every question in each way. */
export async function contest(
  passages: readonly Passage[],
  questions: readonly Question[],
  searchers: ReadonlyMap<string, Searcher>,
): Promise<Score[]> {
  const scores: Score[] = [];
  for (const [name, search] of searchers) {
    const places: number[] = [];
    for (const { question, document, says } of questions) {
      const found = await search(question);
      const place = found.slice(0, PLACES).findIndex((index) => {
        const passage = passages[index];
        return passage?.document === document && hasText(passage.text, says);
      });
      places.push(place === -1 ? Number.POSITIVE_INFINITY : place + 1);
    }
    scores.push({
      name,
      meanReciprocalRank: places.reduce((sum, place) => sum + 1 / place, 0) / questions.length,
      first: places.filter((place) => place === 1).length,
      inTen: places.filter((place) => place <= 10).length,
    });
  }
  return scores;
}

function hasText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Each passage as a message of its document's session, in a store. */
export async function inSessions(
  store: SessionStore,
  passages: readonly Passage[],
): Promise<Searcher> {
  const places = new Map<string, number[]>();
  for (const [index, { document }] of passages.entries()) {
    places.set(document, [...(places.get(document) ?? []), index]);
  }
  const createdAt = Date.now();
  for (const [document, indexes] of places) {
    const messages = indexes.map((index) => ({
      role: 'user' as const,
      text: passages[index]?.text ?? '',
      createdAt,
    }));
    await store.append({ id: document, ...OWNER }, messages);
  }
  return async (query) => {
    const found = await store.search(query, { owner: OWNER, limit: PLACES });
    return found.map(({ message }) => places.get(message.sessionId)?.[message.sequence - 1] ?? -1);
  };
}

/** The session store on SQLite, in memory. */
export async function sqliteSessions(passages: readonly Passage[]): Promise<Searcher> {
  return inSessions(createSqliteSessionStore({ path: ':memory:' }), passages);
}

/** FTS5 as people use it: a table of texts, the words of the query joined by OR, `bm25`. */
export function plainFts5(passages: readonly Passage[], tokenizer: string): Searcher {
  const db = new Database(':memory:');
  db.exec(`CREATE VIRTUAL TABLE passage USING fts5 (text, tokenize = '${tokenizer}')`);
  const add = db.prepare('INSERT INTO passage (rowid, text) VALUES (?, ?)');
  db.transaction(() => {
    passages.forEach(({ text }, index) => void add.run(index, text));
  })();
  const search = db
    .prepare<[query: string, limit: number], number>(
      'SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage) LIMIT ?',
    )
    .pluck();
  return async (query) => {
    const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu));
    return search.all([...words].map((word) => `"${word}"`).join(' OR '), PLACES);
  };
}

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPostgresStores } from '@ethosagent/storage-postgres';
import { startPostgres } from '@ethosagent/test-support';
import { contest, inSessions, plainFts5, sqliteSessions } from './contest.js';
import { readPassages } from './corpus.js';
import { HELD_OUT } from './held-out.js';
import { QUESTIONS } from './questions.js';

// Usage: tsx benchmarks/quality/session-search/main.ts [postgres]; with it on a server of its own, too
const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const passages = readPassages(root);
const searchers = new Map([
  ['FTS5', plainFts5(passages, 'unicode61')],
  ['FTS5, porter', plainFts5(passages, 'porter unicode61')],
  ['session_search', await sqliteSessions(passages)],
]);
const onEnd: (() => void | Promise<void>)[] = [];
const server = process.argv[2] === 'postgres' ? await startPostgres() : undefined;
if (server !== undefined) {
  const { store, close } = await createPostgresStores(server.createDatabase()).sessions.open();
  searchers.set('session_search on PostgreSQL', await inSessions(store, passages));
  onEnd.push(close, server.stop);
}
const documents = new Set(passages.map(({ document }) => document)).size;
console.log(`${passages.length} passages of ${documents} READMEs.`);
for (const [title, questions] of [
  ['The questions that the search was made with', QUESTIONS],
  ['Held out: written after it, and asked of it once', HELD_OUT],
] as const) {
  console.log(`\n${title}: ${questions.length}\n`);
  console.log('| searched by | MRR | first | in the first ten |');
  console.log('|---|---|---|---|');
  for (const score of await contest(passages, questions, searchers)) {
    const { name, meanReciprocalRank, first, inTen } = score;
    console.log(`| ${name} | ${meanReciprocalRank.toFixed(3)} | ${first} | ${inTen} |`);
  }
}
for (const end of onEnd) await end();

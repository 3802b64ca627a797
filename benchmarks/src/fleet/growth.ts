import { createPostgresStores } from '@ethosagent/storage-postgres';
import type { NewSessionMessage, SessionStore } from '@ethosagent/types';
import pg from 'pg';
import { median } from './figures.js';

const TURNS = 100;
const TIMES = 20;

/** What sessions of 100 turns take on the disk, and how long queries on them last, at each size. */
export async function measureGrowth(url: string, sizes: readonly number[]): Promise<void> {
  const { store, close } = await createPostgresStores(url).sessions.open();
  const client = new pg.Client(url);
  await client.connect();
  console.log('\nSessions of 100 turns in PostgreSQL');
  const before = await bytesOf(client);
  let from = 0;
  for (const size of sizes) {
    for (let at = from; at < size; at += 8) {
      const some = Array.from({ length: Math.min(8, size - at) }, (_, n) => at + n);
      await Promise.all(some.map((session) => fill(store, session)));
    }
    from = size;
    await client.query('VACUUM ANALYZE');
    const bytes = (await bytesOf(client)) - before;
    const id = `session-${Math.floor(size / 2)}`;
    const owner = { scopeId: 'personality:bench' };
    const queries = {
      'last page': () => store.messages(id, { afterSequence: TURNS * 4 - 50 }),
      'whole journal': () => store.messages(id),
      'newest sessions': () => store.list({ limit: 20, owner }),
      'rare word': () => store.search(`needle${Math.floor(size / 2)}`, { owner }),
    };
    const times: string[] = [];
    for (const [name, query] of Object.entries(queries)) {
      const ms: number[] = [];
      for (let n = 0; n < TIMES; n++) {
        const startedAt = performance.now();
        await query();
        ms.push(performance.now() - startedAt);
      }
      times.push(`${name} ${median(ms).toFixed(1)} ms`);
    }
    const megabytes = (bytes / 1e6).toFixed(1);
    const each = (bytes / size / TURNS).toFixed(0);
    console.log(`  ${size} sessions: ${megabytes} MB, ${each} bytes a turn; ${times.join(', ')}`);
  }
  await client.end();
  await close();
}

/** Of tables and indexes, on the disk. */
async function bytesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class AS c
     JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'ethos' AND c.relkind = 'r'`,
  );
  return rows[0]?.bytes ?? 0;
}

/** A turn: what the user said, a call, its result, an answer. A text has some 300 characters. */
async function fill(store: SessionStore, session: number): Promise<void> {
  const words = (seed: number) =>
    Array.from({ length: 50 }, (_, n) => `w${(seed * 7_919 + n * 104_729) % 20_000}`).join(' ');
  for (let turn = 0; turn < TURNS; turn += 10) {
    const messages = Array.from({ length: 10 }, (_, n) => turn + n).flatMap(
      (at): NewSessionMessage[] => {
        const seed = session * TURNS + at;
        const data = { v: 1, turn: at, parts: [{ type: 'text', text: words(seed) }] };
        return [
          { role: 'user', text: at === 50 ? `needle${session}` : words(seed), data: { turn: at } },
          { role: 'assistant', text: '', data },
          { role: 'tool', toolName: 'note', text: words(seed + 1), data },
          { role: 'assistant', text: words(seed + 2), data },
        ];
      },
    );
    await store.append({ id: `session-${session}`, scopeId: 'personality:bench' }, messages);
  }
}

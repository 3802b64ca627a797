import { setImmediate } from 'node:timers/promises';
import { sessionConformance } from '@ethosagent/conformance';
import { RANKED_MATCHES } from '@ethosagent/policy';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import { errorCodeOf } from '@ethosagent/types';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';
import { searchStatement } from './sessions/search-statement.js';
import { sessionStatements } from './sessions/session-statements.js';

const url = await newPostgresDatabase();

sessionConformance('createPostgresStores().sessions', async ({ clock }) => {
  const { store, close } = await createPostgresStores({
    url,
    clock,
    ...PATIENT_POSTGRES,
  }).sessions.open();
  return { sessions: store, close };
});

async function openSessions() {
  const { store, close } = await createPostgresStores({ url, ...PATIENT_POSTGRES }).sessions.open();
  onTestFinished(close);
  return store;
}

describe('createPostgresStores().sessions', () => {
  it('takes words that unfold to more than an index takes', async () => {
    const store = await openSessions();
    // Each becomes fifteen letters, without spaces.
    const word = '\ufdfa'.repeat(64);
    await store.append({ id: 'long', scopeId: 'long' }, [{ role: 'user', text: `${word} other` }]);
    const found = await store.search(word, { owner: { scopeId: 'long' } });
    expect(found).toHaveLength(1);
    expect(await store.search('\ufdfa', { owner: { scopeId: 'long' } })).toEqual([]);
    expect(await store.search(`"${word} other"`, { owner: { scopeId: 'long' } })).toHaveLength(1);
  });

  it('takes no messages without a claim once a claim has made the session', async () => {
    const store = await openSessions();
    const [claiming, watching] = [new pg.Client(url), new pg.Client(url)];
    for (const client of [claiming, watching]) {
      await client.connect();
      onTestFinished(() => client.end());
    }
    await claiming.query('BEGIN');
    const claim = 'SELECT outcome FROM ethos.claim_session($1, $2, NULL, NULL, NULL, 60000)';
    const { rows } = await claiming.query(claim, [Buffer.from('raced'), 'somebody']);
    expect(rows).toEqual([{ outcome: 'done' }]);
    const appended = store
      .append({ id: 'raced', scopeId: 'raced' }, [{ role: 'user', text: 'x' }], {
        afterSequence: 0,
      })
      .then(() => 'done', errorCodeOf);
    const waits = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await watching.query(waits)).rows.length === 0) await setImmediate();
    await claiming.query('COMMIT');
    expect(await appended).toBe('SESSION_TAKEN');
    expect(await store.messages('raced')).toEqual([]);
  });

  it('finds nothing by what it filters by', async () => {
    const store = await openSessions();
    await store.append({ id: 'facts', scopeId: 'facts' }, [{ role: 'user', text: 'x' }]);
    for (const query of ['#owner1', '#roleuser', '#session1', '"#roleuser x"', 'roleuser']) {
      expect(await store.search(query, { owner: { scopeId: 'facts' } }), query).toEqual([]);
    }
  });

  it('asks the index for the words, whoever asks', async () => {
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('SET enable_seqscan = off');
    const forms = [
      [' rare ', ' odd '],
      [0, 1],
      [1, 1],
      [true, true],
    ];
    const asked = [[], ...forms, ['user'], -Infinity, Infinity, 2, null, 20, 0];
    const terms = [['rare'], null, ['odd'], ' odd  one '];
    for (const [which, scans] of [
      ['ranked', 2],
      ['all', 3],
    ] as const) {
      const { text } = searchStatement('ethos', 2, which);
      const { rows } = await client.query(`EXPLAIN ${text}`, [...asked, ...terms]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      const byWord = /Bitmap Index Scan on message_by_word[^\n]*\n\s*Index Cond: .*rare/g;
      expect(plan.match(byWord), which).toHaveLength(scans);
      expect(plan.match(/Seq Scan on message/g)).toBeNull();
    }
  });

  it('asks the index for a place in a session, and for a time', async () => {
    const { messages, beginnings, list } = sessionStatements('ethos');
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('SET enable_seqscan = off');
    for (const [{ text }, values, conditions] of [
      [messages, ['s', 5, 10], ['sequence >= ']],
      [beginnings, ['s', 5, 10, 100], ['sequence >= ']],
      [list, [null, 5, 6, 10], ['created_at >= ', 'created_at < ']],
    ] as const) {
      const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
      const plan: string[] = rows.map((row) => row['QUERY PLAN']);
      const found = plan.filter((line) => line.includes('Index Cond: '));
      // The messages come from the index in their order.
      expect(plan.filter((line) => line.includes('Sort Key: m.sequence'))).toEqual([]);
      for (const condition of conditions) {
        expect(
          found.some((line) => line.includes(condition)),
          plan.join('\n'),
        ).toBe(true);
      }
    }
  });

  it('ranks the newest of very many matches, with old ones that have all words', async () => {
    const store = await openSessions();
    const owner = { scopeId: 'many' };
    const count = RANKED_MATCHES + 100;
    // The shortest are the best. The first 50, which are too old to be ranked, are the best of all.
    const texts = Array.from({ length: count }, (_, at) =>
      at < 50 ? 'tide' : `tide ${'and '.repeat(at % 50)}`,
    );
    texts[7] = 'tide and moon';
    texts[60] = 'moon';
    await store.append(
      { id: 'many', ...owner },
      texts.map((text) => ({ role: 'user', text })),
    );
    const page = async (query: string, offset: number) =>
      (await store.search(query, { owner, limit: 200, offset })).map(
        ({ message }) => message.sequence,
      );
    const all = async (query: string) => {
      const starts = Array.from({ length: Math.ceil(count / 200) }, (_, at) => at * 200);
      return (await Promise.all(starts.map((start) => page(query, start)))).flat();
    };
    const tide = await all('tide');
    expect(tide.length).toBe(count - 1);
    expect(new Set(tide).size).toBe(tide.length);
    expect(tide.slice(0, 40).map((sequence) => (sequence - 1) % 50)).toEqual(Array(40).fill(0));
    // The others come after them, the newest first.
    expect(tide.slice(RANKED_MATCHES)).toEqual(tide.slice(RANKED_MATCHES).sort((a, b) => b - a));
    expect(tide.slice(RANKED_MATCHES)).toContain(1);
    const both = await all('tide moon');
    expect(both.length).toBe(count);
    expect(new Set(both).size).toBe(count);
    // One has both words. The other has a rare one, and is too old.
    expect(both[0]).toBe(8);
    expect(both.indexOf(61)).toBeGreaterThan(RANKED_MATCHES - 1);
    expect((await page('"and moon" tide', 0))[0]).toBe(8);
    expect(await page('"tide moon"', 0)).toEqual([]);
  });
});

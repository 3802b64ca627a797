import { sessionConformance } from '@ethosagent/conformance';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';
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

describe('createPostgresStores().sessions', () => {
  it('takes words that unfold to more than an index takes', async () => {
    const { store, close } = await createPostgresStores({
      url,
      ...PATIENT_POSTGRES,
    }).sessions.open();
    onTestFinished(close);
    // Each becomes fifteen letters, without spaces.
    const word = '\ufdfa'.repeat(64);
    await store.append({ id: 'long', scopeId: 'long' }, [{ role: 'user', text: `${word} other` }]);
    const found = await store.search(word, { owner: { scopeId: 'long' } });
    expect(found).toHaveLength(1);
    expect(await store.search('\ufdfa', { owner: { scopeId: 'long' } })).toEqual([]);
    expect(await store.search(`"${word} other"`, { owner: { scopeId: 'long' } })).toHaveLength(1);
  });

  it('finds nothing by what it filters by', async () => {
    const { store, close } = await createPostgresStores({
      url,
      ...PATIENT_POSTGRES,
    }).sessions.open();
    onTestFinished(close);
    await store.append({ id: 'facts', scopeId: 'facts' }, [{ role: 'user', text: 'x' }]);
    for (const query of ['#owner1', '#roleuser', '#session1', '"#roleuser x"', 'roleuser']) {
      expect(await store.search(query, { owner: { scopeId: 'facts' } }), query).toEqual([]);
    }
  });

  it('asks the index for the words, whoever asks', async () => {
    const { search } = sessionStatements('ethos');
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('SET enable_seqscan = off');
    const forms = [[' rare '], [0], [1], [true]];
    const asked = [[], ['rare'], ...forms, ['user'], -Infinity, Infinity, 1, null, 20, 0];
    const { rows } = await client.query(`EXPLAIN ${search.text}`, asked);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Bitmap Index Scan on message_by_word[^\n]*\n\s*Index Cond: .*rare/);
  });
});

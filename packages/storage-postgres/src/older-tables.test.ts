import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';
import { MIGRATIONS } from './schema/migrations.js';

const OWNER = { scopeId: 'personality:old' };

it('messages from before the forms of words have them after the tables are opened', async () => {
  const url = await newPostgresDatabase();
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  const schema = 'ethos';
  for (const step of MIGRATIONS.slice(0, 5)) {
    const sql = step(schema);
    if (typeof sql === 'string') await client.query(sql);
  }
  await client.query(`INSERT INTO ${schema}.migration (version) VALUES (5)`);
  const texts = Array.from({ length: 120 }, (_, at) => `number${at}`);
  texts.push('a planned journey', 'plans', '!');
  const bytes = texts.map((text) => Buffer.from(text));
  const none = texts.map(() => null);
  const append = `SELECT outcome FROM ${schema}.append_claimed(
    $1, $2, NULL, NULL, 0, NULL, $3, $4, $5, $6, $7, $8, NULL, false)`;
  const { rows } = await client.query(append, [
    Buffer.from('s'),
    JSON.stringify([OWNER.scopeId, null, null]),
    texts.map(() => 0),
    texts.map(() => 'user'),
    none,
    bytes,
    none,
    texts.map((text) => text.replace('!', '')),
  ]);
  expect(rows).toEqual([{ outcome: 'done' }]);

  const { store, close } = await createPostgresStores({ url, ...PATIENT_POSTGRES }).sessions.open();
  onTestFinished(close);
  const found = async (query: string) =>
    (await store.search(query, { owner: OWNER })).map(({ message }) => message.sequence);
  expect((await found('planning')).sort()).toEqual([121, 122]);
  for (const at of [0, 49, 50, 51, 119]) expect(await found(`number${at}`)).toEqual([at + 1]);
  expect(await found('"planning"')).toEqual([]);
});

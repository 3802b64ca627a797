import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';
import { MIGRATIONS } from './schema/migrations.js';

const OWNER = { scopeId: 'personality:old' };

/** Tables as an older program made them, which had only so many migrations, with messages. */
async function olderTables(
  version: number,
  messages: readonly (readonly [text: string, words: string])[],
): Promise<string> {
  const url = await newPostgresDatabase();
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  const schema = 'ethos';
  for (const step of MIGRATIONS.slice(0, version)) {
    const sql = step(schema);
    if (typeof sql === 'string') await client.query(sql);
  }
  await client.query(`INSERT INTO ${schema}.migration (version) VALUES (${version})`);
  const none = messages.map(() => null);
  const append = `SELECT outcome FROM ${schema}.append_claimed(
    $1, $2, NULL, NULL, 0, NULL, $3, $4, $5, $6, $7, $8, NULL, false)`;
  const { rows } = await client.query(append, [
    Buffer.from('s'),
    JSON.stringify([OWNER.scopeId, null, null]),
    messages.map(() => 0),
    messages.map(() => 'user'),
    none,
    messages.map(([text]) => Buffer.from(text)),
    none,
    messages.map(([, words]) => words),
  ]);
  expect(rows).toEqual([{ outcome: 'done' }]);
  return url;
}

async function searchIn(url: string) {
  const { store, close } = await createPostgresStores({ url, ...PATIENT_POSTGRES }).sessions.open();
  onTestFinished(close);
  return async (query: string) =>
    (await store.search(query, { owner: OWNER })).map(({ message }) => message.sequence).sort();
}

it('messages from before characters of two words are found by either spelling', async () => {
  const url = await olderTables(6, [
    ['tide ໜ', 'tide ຫນ'],
    ['ຫນ', 'ຫ ນ'],
    ['tide', 'tide'],
  ]);
  const found = await searchIn(url);
  expect(await found('ໜ')).toEqual([1, 2]);
  expect(await found('ຫນ')).toEqual([1, 2]);
  expect(await found('tide')).toEqual([1, 3]);
});

it('messages from before the forms of words have them after the tables are opened', async () => {
  const texts = Array.from({ length: 120 }, (_, at) => `number${at}`);
  texts.push('a planned journey', 'plans', '!');
  const url = await olderTables(
    5,
    texts.map((text) => [text, text.replace('!', '')]),
  );
  const found = await searchIn(url);
  expect(await found('planning')).toEqual([121, 122]);
  for (const at of [0, 49, 50, 51, 119]) expect(await found(`number${at}`)).toEqual([at + 1]);
  expect(await found('"planning"')).toEqual([]);
});

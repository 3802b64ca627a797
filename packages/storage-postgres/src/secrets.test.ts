import { inspect } from 'node:util';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';
import { MIGRATIONS } from './schema/migrations.js';

const url = await newPostgresDatabase();
const KEY = 'k'.repeat(32);
const VALUE = 'sk-very-secret-żółć😀\n';

async function opened(secretsKey: string | string[] = KEY) {
  const { secrets } = createPostgresStores({ url, secretsKey, ...PATIENT_POSTGRES });
  const { store, close } = (await secrets?.open()) ?? expect.fail();
  onTestFinished(close);
  return store;
}

async function sql(text: string, values: unknown[] = [], at = url) {
  const client = new pg.Client(at);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

describe('createPostgresStores().secrets', () => {
  it('get returns what set stored, in another process too, until it is deleted', async () => {
    const secrets = await opened();
    await secrets.set('providers/x/apiKey', 'old');
    await secrets.set('providers/x/apiKey', VALUE);
    await secrets.set('b', '');
    expect(await (await opened()).get('providers/x/apiKey')).toBe(VALUE);
    expect(await secrets.get('b')).toBe('');
    expect(await secrets.list()).toEqual(['b', 'providers/x/apiKey']);
    await secrets.delete('b');
    await secrets.delete('b');
    await expect(secrets.get('b')).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
  });

  it('the database has nothing that opens them, nor a value or its length in the clear', async () => {
    await (await opened()).set('clear', VALUE);
    const rows = await sql('SELECT * FROM ethos.secret');
    const dump = inspect(rows, { depth: 9 }) + JSON.stringify(rows);
    for (const text of ['very-secret', KEY]) {
      expect(dump).not.toContain(text);
      expect(Buffer.concat(rows.map(({ sealed }) => sealed)).includes(text)).toBe(false);
    }
  });

  it.each<[string, string, unknown[]]>([
    [
      'replacing another',
      `UPDATE ethos.secret SET sealed = (SELECT sealed FROM ethos.secret WHERE ref = 'other') WHERE ref = 'attacked'`,
      [],
    ],
    [
      'cut off',
      `UPDATE ethos.secret SET sealed = substring(sealed FROM 1 FOR 40) WHERE ref = 'attacked'`,
      [],
    ],
    ['emptied', `UPDATE ethos.secret SET sealed = '' WHERE ref = 'attacked'`, []],
    [
      'changed in its last byte',
      `UPDATE ethos.secret SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1) WHERE ref = 'attacked'`,
      [],
    ],
    [
      'changed in its nonce',
      `UPDATE ethos.secret SET sealed = set_byte(sealed, 10, get_byte(sealed, 10) # 1) WHERE ref = 'attacked'`,
      [],
    ],
    ['in the clear', 'UPDATE ethos.secret SET sealed = $1 WHERE ref = $2', [VALUE, 'attacked']],
  ])('get refuses one that was %s in the database', async (_, text, values) => {
    const secrets = await opened();
    await secrets.set('attacked', VALUE);
    await secrets.set('other', 'of the attacker');
    await sql(text, values);
    const error = await secrets.get('attacked').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    expect(inspect(error)).not.toContain('very-secret');
  });

  it('another key opens nothing; a new key beside the old one opens all', async () => {
    const other = 'n'.repeat(32);
    await (await opened()).set('rotated', VALUE);
    await expect((await opened(other)).get('rotated')).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
    });
    const both = await opened([other, KEY]);
    expect(await both.get('rotated')).toBe(VALUE);
    await both.set('rotated', VALUE);
    expect(await (await opened(other)).get('rotated')).toBe(VALUE);
  });

  it.each([['short'], [''], [[]], [7], [null]])('refuses the key %j, and shows it not', (key) => {
    const options = [{ url, secretsKey: key }];
    expect(() => Reflect.apply(createPostgresStores, undefined, options)).toThrow(
      'createPostgresStores: secretsKey must have 32 bytes or more',
    );
  });

  it.each(['', '..', 'a//b', 'a\0b', "'; DROP TABLE ethos.secret; --"])(
    'asks the database nothing of the ref %j',
    async (ref) => {
      const secrets = await opened();
      for (const call of [secrets.get(ref), secrets.set(ref, 'x'), secrets.delete(ref)]) {
        await expect(call).rejects.toMatchObject({ code: 'SECRET_NOT_FOUND' });
      }
    },
  );

  it('there are none without a key', () => {
    expect(createPostgresStores(url)).not.toHaveProperty('secrets');
  });

  it('are added to the tables of the first version, which keep what they have', async () => {
    const old = await newPostgresDatabase();
    await sql(String(MIGRATIONS[0]?.('ethos')), [], old);
    await sql('INSERT INTO ethos.migration (version) VALUES (1)', [], old);
    await sql(`INSERT INTO ethos.attachment (digest, bytes) VALUES ('x', 'y')`, [], old);
    const { store, close } =
      (await createPostgresStores({
        url: old,
        secretsKey: KEY,
        ...PATIENT_POSTGRES,
      }).secrets?.open()) ?? expect.fail();
    onTestFinished(close);
    await store.set('a', VALUE);
    expect(await store.get('a')).toBe(VALUE);
    expect(await sql('SELECT max(version)::int AS v FROM ethos.migration', [], old)).toEqual([
      { v: MIGRATIONS.length },
    ]);
    expect(await sql('SELECT count(*)::int AS n FROM ethos.attachment', [], old)).toEqual([
      { n: 1 },
    ]);
  });
});

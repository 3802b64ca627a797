import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresStores } from './postgres-stores.js';

const url = await newPostgresDatabase();
const info = { name: '../../evil.png', mediaType: 'image/png' };
const bytes = Uint8Array.of(0, 1, 2, 255);

async function opened() {
  const { store, close } = await createPostgresStores({
    url,
    ...PATIENT_POSTGRES,
  }).attachments.open();
  onTestFinished(close);
  return store;
}

describe('createPostgresStores().attachments', () => {
  it('get returns what put stored, under the hash of the bytes, in another process too', async () => {
    const put = await (await opened()).put(bytes, info);
    expect(put).toEqual({ ...info, id: expect.stringMatching(/^[0-9a-f]{64}$/), sizeBytes: 4 });
    expect(await (await opened()).get(put.id)).toEqual(bytes);
  });

  it('put keeps the same bytes once, also 20 times at once', async () => {
    const store = await opened();
    const puts = await Promise.all(Array.from({ length: 20 }, () => store.put(bytes, info)));
    expect(new Set(puts.map(({ id }) => id)).size).toBe(1);
    expect(await store.get(puts[0]?.id ?? '')).toEqual(bytes);
  });

  it('get refuses bytes that changed in the database, and put repairs them', async () => {
    const store = await opened();
    const { id } = await store.put(bytes, info);
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`UPDATE ethos.attachment SET bytes = 'tampered'`);
    await client.end();
    await expect(store.get(id)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    await store.put(bytes, info);
    expect(await store.get(id)).toEqual(bytes);
  });

  it.each(['', 'x', "'; DROP TABLE ethos.attachment; --", 'A'.repeat(64), 'a'.repeat(64)])(
    'get(%j) is null',
    async (id) => {
      expect(await (await opened()).get(id)).toBeNull();
    },
  );

  it('put holds the cap', async () => {
    const store = await opened();
    await expect(store.put(new Uint8Array(50_000_001), info)).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
    });
  });
});

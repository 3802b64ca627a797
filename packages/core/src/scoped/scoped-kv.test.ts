import type { KeyValueStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { scopedKv } from './scoped-kv.js';

/** A store with the four documented methods that records its calls. */
function recordingStore() {
  const asked: unknown[][] = [];
  const store: KeyValueStore = {
    get: async (...args) => {
      asked.push(['get', ...args]);
      return null;
    },
    set: async (...args) => {
      asked.push(['set', ...args]);
    },
    delete: async (...args) => {
      asked.push(['delete', ...args]);
    },
    list: async (...args) => {
      asked.push(['list', ...args]);
      return [];
    },
  };
  return { store, asked };
}

describe('scopedKv', () => {
  it.each<[string, number | undefined, { ttlSeconds?: number } | undefined, unknown[]]>([
    ['no default and no TTL', undefined, undefined, ['set', 'k', 'v']],
    ['no default and a TTL', undefined, { ttlSeconds: 5 }, ['set', 'k', 'v', { ttlSeconds: 5 }]],
    ['a default and no TTL', 60, undefined, ['set', 'k', 'v', { ttlSeconds: 60 }]],
    ['a default and empty options', 60, {}, ['set', 'k', 'v', { ttlSeconds: 60 }]],
    [
      'a default and a TTL, which wins',
      60,
      { ttlSeconds: 5 },
      ['set', 'k', 'v', { ttlSeconds: 5 }],
    ],
    [
      'a default and a TTL of 0, which the store judges',
      60,
      { ttlSeconds: 0 },
      ['set', 'k', 'v', { ttlSeconds: 0 }],
    ],
  ])('set with %s', async (_name, ttlSecondsDefault, opts, expected) => {
    const { store, asked } = recordingStore();
    const options = ttlSecondsDefault === undefined ? {} : { ttlSecondsDefault };
    await scopedKv(store, options).set('k', 'v', opts);
    expect(asked).toEqual([expected]);
  });

  it('applies the default to increment and compareAndSet too', async () => {
    let now = 0;
    const store = createInMemoryKvStore({ clock: () => now }).kvStoreFactory('t', 's');
    const kv = scopedKv(store, { ttlSecondsDefault: 10 });
    await kv.increment?.('n');
    await kv.compareAndSet?.('c', null, 'v');
    await kv.set('stays', 'v', { ttlSeconds: 100 });
    now = 10_000;
    expect(await kv.list('')).toEqual(['stays']);
  });

  it('offers increment and compareAndSet where the store does, and not otherwise', () => {
    const { store } = recordingStore();
    const plain = scopedKv(store, {});
    expect(['increment' in plain, 'compareAndSet' in plain]).toEqual([false, false]);
    const rich = scopedKv(createInMemoryKvStore().kvStoreFactory('t', 's'), {});
    expect(['increment' in rich, 'compareAndSet' in rich]).toEqual([true, true]);
  });

  it('passes the errors of the store on', async () => {
    const kv = scopedKv(createInMemoryKvStore().kvStoreFactory('t', 's'), {});
    await expect(kv.set('\ud800', 'v')).rejects.toMatchObject({ code: 'KEY_INVALID' });
    await expect(kv.set('k', 'v', { ttlSeconds: Number.NaN })).rejects.toMatchObject({
      code: 'TTL_INVALID',
    });
  });
});

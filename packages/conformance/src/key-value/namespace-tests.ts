import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KeyValueWorld } from './key-value-world.js';
import { byBytes, TEXT } from './texts.js';

/** Who shares keys, and who does not. */
export function namespaceTests(w: KeyValueWorld): void {
  it('namespaces never mix, for any scope ids and keys', async () => {
    const distinct = fc.uniqueArray(TEXT, { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(distinct, distinct, TEXT, async (ids, keys, tag) => {
        const run = w.unique();
        const stores = ids.map((id) =>
          w.backend.kvStoreFactory('suite', `suite:${run}:${tag}${id}`),
        );
        await Promise.all(
          stores.flatMap((kv, i) => keys.map((key) => kv.set(key, JSON.stringify([i, key])))),
        );
        await stores[0]?.delete(keys[0] ?? '');
        for (const [i, kv] of stores.entries()) {
          for (const [k, key] of keys.entries()) {
            expect(await kv.get(key)).toBe(i + k === 0 ? null : JSON.stringify([i, key]));
          }
          expect(await kv.list('')).toEqual(keys.slice(i === 0 ? 1 : 0).sort(byBytes));
        }
      }),
    );
  });

  it('tools with one scope id share their keys', async () => {
    const id = `session:${w.unique()}`;
    await w.backend.kvStoreFactory('one', id).set('k', 'v');
    expect(await w.backend.kvStoreFactory('two', id).get('k')).toBe('v');
  });
}

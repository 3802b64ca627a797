import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import type { KeyValueWorld } from './key-value-world.js';

/** Keys, values and scope ids that no store takes. */
export function refusedInputTests(w: KeyValueWorld): void {
  describe('refused input', () => {
    it.each([undefined, null, 1, true, {}, ['k'], Symbol('k'), 'a\ud800', '\udc00'])(
      'a key %s is KEY_INVALID in every method',
      async (key) => {
        const kv = w.fresh();
        for (const [method, rest] of [
          ['get', []],
          ['set', ['v']],
          ['delete', []],
          ['list', []],
          ['increment', []],
          ['compareAndSet', [null, 'v']],
        ] as const) {
          const call = kv[method];
          if (!call) continue;
          expect(await codeOf(Reflect.apply(call, kv, [key, ...rest])), method).toBe('KEY_INVALID');
        }
        expect(await kv.list('')).toEqual([]);
      },
    );

    it.each([undefined, null, 1, true, {}, ['v'], new Uint8Array(1), '\ud83d', 'a\udc00b'])(
      'a value %s is VALUE_INVALID',
      async (value) => {
        const kv = w.fresh();
        expect(await codeOf(Reflect.apply(kv.set, kv, ['k', value]))).toBe('VALUE_INVALID');
        if (kv.compareAndSet) {
          const swap = Reflect.apply(kv.compareAndSet, kv, ['k', null, value]);
          expect(await codeOf(swap)).toBe('VALUE_INVALID');
        }
        expect(await kv.get('k')).toBeNull();
      },
    );

    it('a value of 100 MB is VALUE_INVALID', async () => {
      const kv = w.fresh();
      expect(await codeOf(kv.set('k', 'x'.repeat(100_000_000)))).toBe('VALUE_INVALID');
      expect(await kv.get('k')).toBeNull();
    });

    it.each([undefined, null, 7, '\ud800'])('a scope id %s is KEY_INVALID', async (scopeId) => {
      const create = async () =>
        Reflect.apply(w.backend.kvStoreFactory, w.backend, ['suite', scopeId]);
      expect(await codeOf(create())).toBe('KEY_INVALID');
    });
  });
}

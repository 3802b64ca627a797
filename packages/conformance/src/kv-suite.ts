import { errorCodeOf, type KeyValueStore } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A key-value backend to test. */
export interface KeyValueBackend {
  /** Returns the store of a tool in a scope. */
  kvStoreFactory: (tool: string, scopeId: string) => KeyValueStore;
  /** Closes the backend. */
  close?: () => void | Promise<void>;
}

/**
 * Registers tests that a key-value backend keeps the contract of `KeyValueStore`: exact prefixes,
 * separate namespaces, times to live, and `increment` and `compareAndSet` if the backend has them.
 * Call it in a test file.
 *
 * @param name the name of the backend, for the names of the tests
 * @param create creates an empty backend that reads the time, in milliseconds, from `clock`
 */
export function keyValueConformance(
  name: string,
  create: (options: { clock: () => number }) => KeyValueBackend | Promise<KeyValueBackend>,
): void {
  describe(`${name} as a KeyValueStore`, () => {
    let now = 1_700_000_000_000;
    let scopes = 0;
    let backend: KeyValueBackend;

    beforeAll(async () => {
      backend = await create({ clock: () => now });
    });
    afterAll(async () => {
      await backend.close?.();
    });

    /** A namespace that no other test uses. */
    const fresh = () => backend.kvStoreFactory('suite', `suite:${scopes++}`);

    describe('get, set and delete', () => {
      it('get returns null for a key that is absent', async () => {
        expect(await fresh().get('absent')).toBeNull();
      });

      it.each(NASTY_TEXTS)('get returns what set wrote, key and value %j', async (text) => {
        const kv = fresh();
        await kv.set(text, text);
        expect(await kv.get(text)).toBe(text);
        expect(await kv.list('')).toEqual([text]);
      });

      it('set replaces a value', async () => {
        const kv = fresh();
        await kv.set('k', 'one');
        await kv.set('k', 'two');
        expect(await kv.get('k')).toBe('two');
        expect(await kv.list('')).toEqual(['k']);
      });

      it('delete removes a key, and does nothing when it is absent', async () => {
        const kv = fresh();
        await kv.set('k', 'v');
        await kv.delete('k');
        await kv.delete('k');
        expect(await kv.get('k')).toBeNull();
        expect(await kv.list('')).toEqual([]);
      });

      it('keys differ by case and by Unicode normalisation', async () => {
        const kv = fresh();
        for (const key of ['e\u0301', '\u00e9', 'E\u0301', 'K', 'k']) await kv.set(key, key);
        for (const key of ['e\u0301', '\u00e9', 'E\u0301', 'K', 'k']) {
          expect(await kv.get(key)).toBe(key);
        }
      });

      it('a read sees the writes that were asked for before it', async () => {
        const kv = fresh();
        const settled = [kv.set('a', '1'), kv.set('a', '2'), kv.set('b', '1'), kv.delete('b')];
        const reads = Promise.all([kv.get('a'), kv.get('b'), kv.list('')]);
        const later = kv.set('a', '3');
        expect(await reads).toEqual(['2', null, ['a']]);
        await Promise.all([...settled, later]);
        expect(await kv.get('a')).toBe('3');
      });

      it('one refused write of many fails alone', async () => {
        const kv = fresh();
        const outcomes = await Promise.allSettled([
          kv.set('a', '1'),
          kv.set('b', '\ud800'),
          kv.set('c', '3'),
        ]);
        expect(outcomes.map(({ status }) => status)).toEqual([
          'fulfilled',
          'rejected',
          'fulfilled',
        ]);
        expect(await kv.list('')).toEqual(['a', 'c']);
      });
    });

    describe('list', () => {
      it.each(['%', '_', '*', '?', '[', 'user:', 'USER:', '\0', "'", '\\', '😀'])(
        'list(%j) takes the prefix literally',
        async (prefix) => {
          const kv = fresh();
          const keys = ['%', '_', '*', '?', '[', "'", '\\', '\0', '😀'].flatMap((c) => [
            c,
            `${c}1`,
          ]);
          keys.push('user:1', 'USER:2', 'user%', 'user_x', 'user', 'x%', 'a', '😁');
          await Promise.all(keys.map((key) => kv.set(key, 'v')));
          expect(await kv.list(prefix)).toEqual(
            keys.filter((key) => key.startsWith(prefix)).sort(byBytes),
          );
        },
      );

      it('list takes a prefix of 60,000 characters', async () => {
        const kv = fresh();
        const prefix = '\u{10ffff}'.repeat(30_000);
        await kv.set(prefix, 'exact');
        await kv.set(`${prefix}x`, 'longer');
        await kv.set(prefix.slice(2), 'shorter');
        expect(await kv.list(prefix)).toEqual([prefix, `${prefix}x`]);
      });

      it('list equals a filter, in code point order, for any keys and prefix', async () => {
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(TEXT, { maxLength: 20 }), TEXT, async (keys, prefix) => {
            const kv = fresh();
            await Promise.all(keys.map((key) => kv.set(key, 'v')));
            expect(await kv.list(prefix)).toEqual(
              keys.filter((key) => key.startsWith(prefix)).sort(byBytes),
            );
          }),
        );
      });
    });

    it('namespaces never mix, for any scope ids and keys', async () => {
      const distinct = fc.uniqueArray(TEXT, { minLength: 2, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(distinct, distinct, TEXT, async (ids, keys, tag) => {
          const run = scopes++;
          const stores = ids.map((id) => backend.kvStoreFactory('suite', `${run}:${tag}${id}`));
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
      const id = `session:${scopes++}`;
      await backend.kvStoreFactory('one', id).set('k', 'v');
      expect(await backend.kvStoreFactory('two', id).get('k')).toBe('v');
    });

    describe('ttlSeconds', () => {
      it('an entry lives until its TTL is over, and not a moment longer', async () => {
        const kv = fresh();
        await kv.set('k', 'v', { ttlSeconds: 10 });
        now += 9_999;
        expect([await kv.get('k'), await kv.list('')]).toEqual(['v', ['k']]);
        now += 1;
        expect([await kv.get('k'), await kv.list('')]).toEqual([null, []]);
      });

      it('a second set without a TTL lifts the first', async () => {
        const kv = fresh();
        await kv.set('k', 'v', { ttlSeconds: 10 });
        await kv.set('k', 'v');
        now += 1e9;
        expect(await kv.get('k')).toBe('v');
      });

      it('a second set with a TTL counts anew', async () => {
        const kv = fresh();
        await kv.set('k', 'v', { ttlSeconds: 10 });
        now += 9_000;
        await kv.set('k', 'v', { ttlSeconds: 10 });
        now += 9_000;
        expect(await kv.get('k')).toBe('v');
        now += 1_000;
        expect(await kv.get('k')).toBeNull();
      });

      it('an expired key can be set again', async () => {
        const kv = fresh();
        await kv.set('k', 'old', { ttlSeconds: 1 });
        now += 1_000;
        await kv.set('k', 'new');
        expect(await kv.get('k')).toBe('new');
      });

      it.each(['get', 'list'] as const)(
        'a key that %s found expired stays absent when the clock is set back',
        async (method) => {
          const kv = fresh();
          await kv.set('k', 'v', { ttlSeconds: 10 });
          now += 10_000;
          await kv[method]('k');
          now -= 10_000;
          expect([await kv.get('k'), await kv.list('')]).toEqual([null, []]);
          now += 10_000;
        },
      );

      it.each([0.0001, 0.0004, Number.MIN_VALUE])('%s rounds up to a millisecond', async (ttl) => {
        const kv = fresh();
        await kv.set('k', 'v', { ttlSeconds: ttl });
        expect(await kv.get('k')).toBe('v');
        now += 1;
        expect(await kv.get('k')).toBeNull();
      });

      it.each([Number.NaN, 0, -0, -1, Infinity, -Infinity, 1e300])(
        'refuses %s, and writes nothing',
        async (ttlSeconds) => {
          const kv = fresh();
          expect(await codeOf(kv.set('k', 'v', { ttlSeconds }))).toBe('TTL_INVALID');
          for (const [method, args] of [
            ['increment', [1]],
            ['compareAndSet', [null, 'v']],
          ] as const) {
            const call = kv[method];
            if (!call) continue;
            const refused = Reflect.apply(call, kv, ['k', ...args, { ttlSeconds }]);
            expect(await codeOf(refused), method).toBe('TTL_INVALID');
          }
          expect(await kv.list('')).toEqual([]);
        },
      );

      it.each(['10', null, true, {}, 1n])('refuses %s, which is no number', async (ttlSeconds) => {
        const kv = fresh();
        const set = Reflect.apply(kv.set, kv, ['k', 'v', { ttlSeconds }]);
        expect(await codeOf(set)).toBe('TTL_INVALID');
        expect(await kv.get('k')).toBeNull();
      });
    });

    describe('refused input', () => {
      it.each([undefined, null, 1, true, {}, ['k'], Symbol('k'), 'a\ud800', '\udc00'])(
        'a key %s is KEY_INVALID in every method',
        async (key) => {
          const kv = fresh();
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
            expect(await codeOf(Reflect.apply(call, kv, [key, ...rest])), method).toBe(
              'KEY_INVALID',
            );
          }
          expect(await kv.list('')).toEqual([]);
        },
      );

      it.each([undefined, null, 1, true, {}, ['v'], new Uint8Array(1), '\ud83d', 'a\udc00b'])(
        'a value %s is VALUE_INVALID',
        async (value) => {
          const kv = fresh();
          expect(await codeOf(Reflect.apply(kv.set, kv, ['k', value]))).toBe('VALUE_INVALID');
          if (kv.compareAndSet) {
            const swap = Reflect.apply(kv.compareAndSet, kv, ['k', null, value]);
            expect(await codeOf(swap)).toBe('VALUE_INVALID');
          }
          expect(await kv.get('k')).toBeNull();
        },
      );

      it('a value of 100 MB is VALUE_INVALID', async () => {
        const kv = fresh();
        expect(await codeOf(kv.set('k', 'x'.repeat(100_000_000)))).toBe('VALUE_INVALID');
        expect(await kv.get('k')).toBeNull();
      });

      it.each([undefined, null, 7, '\ud800'])('a scope id %s is KEY_INVALID', async (scopeId) => {
        const create = async () =>
          Reflect.apply(backend.kvStoreFactory, backend, ['suite', scopeId]);
        expect(await codeOf(create())).toBe('KEY_INVALID');
      });
    });

    describe('increment', () => {
      it('counts from 0, by 1 or by a step', async () => {
        const kv = fresh();
        if (!kv.increment) return;
        expect(await kv.increment('n')).toBe(1);
        expect(await kv.increment('n', 41)).toBe(42);
        expect(await kv.increment('n', -50)).toBe(-8);
        expect(await kv.get('n')).toBe('-8');
      });

      it('1,000 at once lose nothing, and each returns another number', async () => {
        const kv = fresh();
        const { increment } = kv;
        if (!increment) return;
        const results = await Promise.all(Array.from({ length: 1_000 }, () => increment('n')));
        expect(new Set(results).size).toBe(1_000);
        expect(await kv.get('n')).toBe('1000');
      });

      it('takes an expired value as absent', async () => {
        const kv = fresh();
        if (!kv.increment) return;
        await kv.set('n', '41', { ttlSeconds: 1 });
        now += 1_000;
        expect(await kv.increment('n')).toBe(1);
      });

      it('sets the TTL as set does', async () => {
        const kv = fresh();
        if (!kv.increment) return;
        await kv.increment('n', 1, { ttlSeconds: 1 });
        await kv.increment('kept', 1, { ttlSeconds: 1 });
        await kv.increment('kept');
        now += 1_000;
        expect([await kv.get('n'), await kv.get('kept')]).toEqual([null, '2']);
      });

      it.each(['', '1.5', 'many', '01', '9007199254740991'])(
        'refuses the current value %j, and leaves it',
        async (value) => {
          const kv = fresh();
          if (!kv.increment) return;
          await kv.set('n', value);
          expect(await codeOf(kv.increment('n'))).toBe('VALUE_INVALID');
          expect(await kv.get('n')).toBe(value);
        },
      );

      it.each([0.5, Number.NaN, Infinity, 2 ** 53])('refuses the step %s', async (by) => {
        const kv = fresh();
        if (!kv.increment) return;
        expect(await codeOf(kv.increment('n', by))).toBe('VALUE_INVALID');
        expect(await kv.get('n')).toBeNull();
      });
    });

    describe('compareAndSet', () => {
      it('writes only over the expected value', async () => {
        const kv = fresh();
        if (!kv.compareAndSet) return;
        expect(await kv.compareAndSet('k', 'x', 'no')).toBe(false);
        expect(await kv.get('k')).toBeNull();
        expect(await kv.compareAndSet('k', null, 'a')).toBe(true);
        expect(await kv.compareAndSet('k', null, 'no')).toBe(false);
        expect(await kv.compareAndSet('k', 'a', 'b')).toBe(true);
        expect(await kv.get('k')).toBe('b');
      });

      it('of many at once one succeeds', async () => {
        const kv = fresh();
        const { compareAndSet } = kv;
        if (!compareAndSet) return;
        const wins = await Promise.all(
          Array.from({ length: 100 }, (_, i) => compareAndSet('k', null, String(i))),
        );
        expect(wins.filter(Boolean)).toHaveLength(1);
        expect(await kv.get('k')).toBe(String(wins.indexOf(true)));
      });

      it('takes an expired value as absent, and sets the TTL as set does', async () => {
        const kv = fresh();
        if (!kv.compareAndSet) return;
        await kv.set('k', 'a', { ttlSeconds: 1 });
        now += 1_000;
        expect(await kv.compareAndSet('k', 'a', 'b')).toBe(false);
        expect(await kv.compareAndSet('k', null, 'b', { ttlSeconds: 1 })).toBe(true);
        now += 1_000;
        expect(await kv.get('k')).toBeNull();
      });
    });

    it('any sequence of calls does what a plain map with expiry times does', async () => {
      const key = fc.constantFrom('a', 'ab', 'A', '%', 'a\0', '😀');
      const ttlSeconds = fc.option(fc.constantFrom(1, 2, 5), { nil: undefined });
      const step = fc.oneof(
        fc.record({ do: fc.constant('set' as const), key, value: TEXT, ttlSeconds }),
        fc.record({ do: fc.constant('delete' as const), key }),
        fc.record({ do: fc.constant('get' as const), key }),
        fc.record({ do: fc.constant('list' as const), key }),
        fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(500, 1_000, 3_000) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const kv = fresh();
          const model = new Map<string, { value: string; expiresAt: number }>();
          const live = (k: string) => ((model.get(k)?.expiresAt ?? 0) > now ? model.get(k) : null);
          for (const taken of steps) {
            if (taken.do === 'wait') now += taken.ms;
            if (taken.do === 'delete') {
              await kv.delete(taken.key);
              model.delete(taken.key);
            }
            if (taken.do === 'set') {
              const { key, value, ttlSeconds } = taken;
              await kv.set(key, value, ttlSeconds === undefined ? {} : { ttlSeconds });
              model.set(key, { value, expiresAt: now + (ttlSeconds ?? Infinity) * 1_000 });
            }
            if (taken.do === 'get') {
              expect(await kv.get(taken.key)).toBe(live(taken.key)?.value ?? null);
            }
            if (taken.do === 'list') {
              const keys = [...model.keys()].filter((k) => live(k) && k.startsWith(taken.key));
              expect(await kv.list(taken.key)).toEqual(keys.sort(byBytes));
            }
          }
        }),
      );
    });
  });
}

const NASTY_TEXTS = [
  '',
  'plain',
  '\0',
  'a\0b',
  '😀',
  '\uffff',
  '\u{10ffff}',
  "'; DROP TABLE kv; --",
  '../../etc/passwd',
  'C:\\temp',
  'tool:other',
  '__proto__',
  'constructor',
  '\u202eabc',
  ' padded ',
  'line\nbreak\r\n',
];

/** Texts with characters that often cause bugs in stores. */
const TEXT = fc.string({
  unit: fc.constantFrom(
    ...['a', 'A', 'b', '%', '_', '*', ':', '/', '\\', "'", '"', '\0', ' ', '\x7f', '\u00e9'],
    ...['e\u0301', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'],
  ),
  maxLength: 5,
});

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns the code with which a call was refused. */
async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return errorCodeOf(error) ?? error;
  }
  return 'not refused';
}

import { countTries, inCheck } from '@ethosagent/test-support';
import type { KeyValueStore } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../../fuzz.js';

/**
 * Scope ids, prefixes and keys that some layer between tool and disk might interpret, and not treat
 * as plain text.
 */
const HOSTILE = [
  ...['', ':', '::', 'a:', ':a', 'a:b', 'a::b', 'a/b', 'a/', '/a', '..', '../a', 'a\\b', 'a|b'],
  ...['%', '_', 'a%', 'a_', '%a', '\\%', '*', '?', '[a]', 'a*', '^a', 'a$', '.', 'a.b'],
  ...["'", '"', '`', "a'--", "a'; DELETE FROM kv; --", 'a" OR 1=1 --', 'NULL', '0', '1e3', 'x\0y'],
  ...[
    '\0',
    'a\0',
    '\0a',
    '\x01',
    '\n',
    '\r\n',
    ' ',
    'a ',
    ' a',
    '\u00a0',
    '\u200b',
    '\u202e',
    '\ufeff',
  ],
  ...['A', 'a', '\u00e9', 'e\u0301', '\uff41', '\u0130', 'i\u0307', '\u212a', 'K', '\u00df', 'ss'],
  ...[
    '\u{1f600}',
    '\u{1f601}',
    '\uffff',
    '\u{10ffff}',
    '\ue000',
    '\ud7ff',
    '__proto__',
    'toString',
  ],
  ...[
    'tool:a',
    'session:a',
    'personality:a',
    'tool:a:k',
    'tool',
    '{"a":1}',
    '["a"]',
    'a,b',
    'a=b&c',
  ],
];

/** Attacks on the separation of namespaces and prefixes. */
export function namespaceAttacks(fresh: (id: string) => KeyValueStore): void {
  describe('with hostile scope ids, keys and prefixes', () => {
    it('keeps every pair of them apart', async (context) => {
      const stores = HOSTILE.map((id) => ({ id, kv: fresh(`pairs${id}`) }));
      await Promise.all(
        stores.flatMap(({ id, kv }) =>
          HOSTILE.map((key) => kv.set(key, JSON.stringify([id, key]))),
        ),
      );
      for (const [at, { id, kv }] of stores.entries()) {
        const values = await Promise.all(HOSTILE.map((key) => kv.get(key)));
        expect(values).toEqual(HOSTILE.map((key) => JSON.stringify([id, key])));
        // A check also tries every prefix, but not in every store.
        const prefixes = inCheck(HOSTILE, (prefix) => (HOSTILE.indexOf(prefix) + at) % 6 === 0);
        for (const prefix of prefixes) {
          const wanted = HOSTILE.filter((key) => key.startsWith(prefix));
          expect(await kv.list(prefix), JSON.stringify([id, prefix])).toEqual(wanted.sort(byBytes));
        }
      }
      // What is removed from one store is still in all others.
      const [gone, ...others] = stores;
      for (const key of HOSTILE) await gone?.kv.delete(key);
      expect(await gone?.kv.list('')).toEqual([]);
      for (const { kv } of others) expect(await kv.list('')).toHaveLength(HOSTILE.length);
      countTries(context, 'key-value', 2 * HOSTILE.length ** 2);
    });

    let run = 0;
    // A number alone would name a namespace of `keyValueConformance`, which may test the same database.
    const idOf = (id: string) => `any-calls:${run}:${id}`;
    const text = fc
      .array(fc.constantFrom(...HOSTILE), { maxLength: 3 })
      .map((parts) => parts.join(''));
    const step = fc.record({
      store: fc.nat(3),
      method: fc.constantFrom('set', 'delete', 'list'),
      text,
    });
    fuzz(
      'keeps them apart through any sequence of calls',
      fc.record({
        ids: fc.uniqueArray(text, { minLength: 4, maxLength: 4 }),
        steps: fc.array(step, { minLength: 5, maxLength: 25 }),
      }),
      async ({ ids, steps }) => {
        run += 1;
        const worlds = ids.map((id) => ({ kv: fresh(idOf(id)), model: new Set<string>() }));
        for (const { store, method, text } of steps) {
          const at = worlds[store];
          if (at === undefined) continue;
          if (method === 'set') {
            await at.kv.set(text, `${store}`);
            at.model.add(text);
          } else if (method === 'delete') {
            await at.kv.delete(text);
            at.model.delete(text);
          } else {
            const wanted = [...at.model].filter((key) => key.startsWith(text));
            expect(await at.kv.list(text)).toEqual(wanted.sort(byBytes));
          }
        }
        for (const [index, { kv, model }] of worlds.entries()) {
          expect(await kv.list('')).toEqual([...model].sort(byBytes));
          for (const key of model) expect(await kv.get(key)).toBe(`${index}`);
        }
      },
      { promised: 'key-value', runs: { check: 20, long: 10_000 } },
    );
  });
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

import { fuzz } from '@ethosagent/conformance/fuzz';
import { compareCodePoints } from '@ethosagent/policy';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createSqliteKvStore, type SqliteKvStore } from './sqlite-kv-store.js';

/**
 * Characters that have a meaning in SQL, patterns, paths or encodings, or that these treat as
 * equal.
 */
const unit = fc.constantFrom(
  ...['a', 'A', 'b', ':', '/', '%', '_', '*', '?', '[', "'", '"', '\\', '\0', '\n', '-', ';', ' '],
  ...['é', 'e\u0301', 'ß', 'K', '\u212a', '\ufeff', '\uffff', '😀', '\u{10ffff}'],
);
const text = fc.oneof(
  fc.string({ unit, maxLength: 4 }),
  // Often one is a prefix of another one, or directly follows it.
  fc.string({ unit: fc.constantFrom('a', 'b', '\0'), maxLength: 2 }),
);
const scopeId = fc.oneof(
  text,
  fc
    .tuple(fc.constantFrom('tool:', 'session:', 'personality:', 'tool:a:'), text)
    .map((parts) => parts.join('')),
);

type Entry = { scope: string; key: string; value: string };

async function withStore(use: (store: SqliteKvStore) => Promise<void>): Promise<void> {
  const store = createSqliteKvStore({ path: ':memory:', synchronous: 'normal' });
  try {
    await use(store);
  } finally {
    store.close();
  }
}

describe('namespaces of a store, whatever scope ids and keys are', () => {
  const entry: fc.Arbitrary<Entry> = fc.record({ scope: scopeId, key: text, value: text });

  fuzz(
    'are those of a map of maps: none sees another, and list(prefix) is a filter in code point order',
    fc.tuple(
      fc.array(entry, { maxLength: 12 }),
      scopeId,
      fc.array(text, { minLength: 1, maxLength: 3 }),
    ),
    ([entries, asked, prefixes]) =>
      withStore(async ({ kvStoreFactory }) => {
        const model = new Map<string, Map<string, string>>();
        await Promise.all(
          entries.map(({ scope, key, value }) => {
            model.set(scope, (model.get(scope) ?? new Map()).set(key, value));
            return kvStoreFactory('t', scope).set(key, value);
          }),
        );
        for (const scope of new Set([asked, ...model.keys()])) {
          const kv = kvStoreFactory('other', scope);
          const expected = model.get(scope) ?? new Map<string, string>();
          for (const { key } of entries) expect(await kv.get(key)).toBe(expected.get(key) ?? null);
          for (const prefix of ['', ...prefixes]) {
            expect(await kv.list(prefix)).toEqual(
              [...expected.keys()].filter((key) => key.startsWith(prefix)).sort(compareCodePoints),
            );
          }
        }
      }),
    { promised: 'key-value', runs: { check: 12, long: 30_000 } },
  );

  const broken = fc.string({
    unit: fc.constantFrom('a', '\ud800', '\udc00', '😀', '\0'),
    maxLength: 4,
  });
  fuzz(
    'store a text as it was given, or refuse it',
    fc.tuple(broken, broken, broken),
    ([scope, key, value]) =>
      withStore(async ({ kvStoreFactory }) => {
        const isWhole = [scope, key, value].every((text) => text.isWellFormed());
        const stored = (async () => {
          const kv = kvStoreFactory('t', scope);
          await kv.set(key, value);
          return [await kv.get(key), await kv.list(key)];
        })();
        if (isWhole) expect(await stored).toEqual([value, [key]]);
        else
          await expect(stored).rejects.toMatchObject({
            code: expect.stringMatching(/^(?:KEY|VALUE)_INVALID$/),
          });
      }),
    { promised: 'key-value', runs: { check: 12, long: 30_000 } },
  );

  const step = fc.oneof(
    fc.record({
      do: fc.constant('set' as const),
      key: text,
      value: text,
      ttl: fc.option(fc.integer({ min: 1, max: 5 })),
    }),
    fc.record({ do: fc.constant('delete' as const), key: text }),
    fc.record({
      do: fc.constant('increment' as const),
      key: text,
      by: fc.integer({ min: -3, max: 3 }),
    }),
    fc.record({
      do: fc.constant('swap' as const),
      key: text,
      expected: fc.option(text),
      value: text,
    }),
    fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: -2, max: 3 }) }),
  );
  fuzz(
    'answer any sequence of calls as a map with times does',
    fc.array(step, { maxLength: 15 }),
    async (steps) => {
      let now = 1_000_000;
      const store = createSqliteKvStore({ path: ':memory:', clock: () => now });
      const model = new Map<string, { value: string; until: number }>();
      const forget = () => {
        for (const [key, { until }] of model) if (until <= now) model.delete(key);
      };
      try {
        const kv = store.kvStoreFactory('t', 's');
        for (const step of steps) {
          // Listing an expired entry removes it, so it stays absent even if the clock is set back.
          forget();
          expect(await kv.list('')).toEqual([...model.keys()].sort(compareCodePoints));
          if (step.do === 'wait') now += step.seconds * 1000;
          else if (step.do === 'delete') {
            await kv.delete(step.key);
            model.delete(step.key);
          } else if (step.do === 'set') {
            await kv.set(step.key, step.value, step.ttl === null ? {} : { ttlSeconds: step.ttl });
            const until = step.ttl === null ? Number.POSITIVE_INFINITY : now + step.ttl * 1000;
            model.set(step.key, { value: step.value, until });
          } else if (step.do === 'swap') {
            const isSwapped = (model.get(step.key)?.value ?? null) === step.expected;
            expect(await kv.compareAndSet(step.key, step.expected, step.value)).toBe(isSwapped);
            if (isSwapped)
              model.set(step.key, { value: step.value, until: Number.POSITIVE_INFINITY });
          } else {
            const current = model.get(step.key)?.value ?? '0';
            const sum = kv.increment(step.key, step.by);
            if (!/^(?:0|-?[1-9]\d*)$/.test(current)) {
              await expect(sum).rejects.toMatchObject({ code: 'VALUE_INVALID' });
              continue;
            }
            const value = `${Number(current) + step.by}`;
            expect(`${await sum}`).toBe(value);
            model.set(step.key, { value, until: Number.POSITIVE_INFINITY });
          }
        }
      } finally {
        store.close();
      }
    },
    { promised: 'key-value', runs: { check: 12, long: 30_000 } },
  );
});

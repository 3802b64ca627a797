import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { errorText, TRUNCATION_MARKER } from '@ethosagent/policy';
import { ERROR_CODES, TOOL_ERROR_CODES } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { wildValue } from '../testing/wild-values.js';
import { checkShape } from './check-shape.js';
import { trimResult } from './trim.js';

/** Almost a result: each field is absent, of the right type, of a wrong type, or hostile. */
const made = <T>(honest: fc.Arbitrary<T>) =>
  fc.oneof(
    honest.map((value) => () => value),
    wildValue,
  );
const nearlyResult = fc
  .record(
    {
      ok: made(fc.boolean()),
      value: made(fc.string()),
      error: made(fc.string()),
      code: made(fc.constantFrom(...Object.keys(TOOL_ERROR_CODES), 'toString', '__proto__')),
      structured: made(fc.dictionary(fc.string(), fc.jsonValue())),
      cost_usd: made(fc.double()),
    },
    { requiredKeys: [] },
  )
  .map(
    (fields) => () =>
      Object.fromEntries(Object.entries(fields).map(([name, make]) => [name, make()])),
  );

describe('checkShape, whatever was returned', () => {
  fuzz(
    'never throws, and gives a result of the documented shape',
    fc.oneof(nearlyResult, wildValue),
    (make) => {
      const result = checkShape(make());
      expect(structuredClone(result)).toEqual(result);
      if (result.ok) {
        expect(typeof result.value).toBe('string');
        expect(
          Object.keys(result).every((key) =>
            ['ok', 'value', 'structured', 'cost_usd'].includes(key),
          ),
        ).toBe(true);
        if (result.cost_usd !== undefined) expect(Number.isFinite(result.cost_usd)).toBe(true);
      } else {
        expect(typeof result.error).toBe('string');
        expect(Object.hasOwn(TOOL_ERROR_CODES, result.code)).toBe(true);
        const { cause, ...rest } = result;
        expect(Object.keys(rest).sort()).toEqual(['code', 'error', 'ok']);
        if (cause !== undefined) expect(Object.hasOwn(ERROR_CODES, cause)).toBe(true);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
    { promised: 'batches', runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'gives back an honest result as it was',
    fc.record(
      {
        ok: fc.constant(true),
        value: fc.string(),
        structured: fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')),
        ),
        cost_usd: fc.double({ noNaN: true, noDefaultInfinity: true }),
      },
      { requiredKeys: ['ok', 'value'] },
    ),
    (honest) => expect({ ...checkShape(honest) }).toEqual({ ...honest }),
    { promised: 'batches' },
  );

  growsLinearly(
    'takes linear time',
    (size) => ({
      ok: true,
      value: 'v',
      structured: { list: Array.from({ length: size }, (_, at) => ({ at })) },
    }),
    checkShape,
  );
});

describe('errorText, whatever was thrown', () => {
  fuzz(
    'never throws, and says something',
    wildValue,
    (make) => {
      const text = errorText(make());
      expect(typeof text === 'string' && text !== '').toBe(true);
    },
    { promised: 'batches' },
  );
});

describe('trimResult, whatever the budget', () => {
  fuzz(
    'cuts the text alone, and not what fits',
    fc.tuple(fc.string({ unit: 'grapheme' }), fc.boolean(), fc.oneof(fc.nat(20), fc.double())),
    ([text, ok, budget]) => {
      const result = ok
        ? { ok, value: text, structured: { a: 1 }, cost_usd: 1 }
        : { ok, error: text, code: 'execution_failed' as const };
      const cut = trimResult(checkShape(result), budget);
      expect({ ...cut, value: 0, error: 0 }).toEqual({ ...result, value: 0, error: 0 });
      const kept = cut.ok ? cut.value : cut.error;
      expect(kept.isWellFormed()).toBe(true);
      if (text.length <= budget) expect(kept).toBe(text);
      else expect(kept).toMatch(TRUNCATION_MARKER);
    },
    { promised: 'batches' },
  );
});

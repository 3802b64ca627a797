import { truncationMarker } from '@ethosagent/policy';
import type { ToolResult, ToolResultReducer } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { untyped } from '../testing/batch.js';
import { reduceResult } from './reduce.js';
import { trimResult } from './trim.js';

const success: ToolResult = { ok: true, value: 'long', structured: { rows: [1] }, cost_usd: 1 };
const failure: ToolResult = { ok: false, error: 'broken', code: 'input_invalid' };
const ctx = { args: { a: 1 }, turnCount: 3 };

function reducer(reduce: (result: ToolResult) => unknown): ToolResultReducer {
  return { toolName: 't', reduce: untyped(reduce) };
}

describe('reduceResult', () => {
  it('replaces the result by what the reducer makes of it', () => {
    expect(
      reduceResult(
        success,
        reducer(() => ({ ok: true, value: 'short' })),
        ctx,
      ),
    ).toEqual({
      ok: true,
      value: 'short',
    });
  });

  it('shows the reducer the arguments and the turn', () => {
    const seen: unknown[] = [];
    const spy: ToolResultReducer = {
      toolName: 't',
      reduce: (result, context) => {
        seen.push(context);
        return result;
      },
    };
    reduceResult(success, spy, ctx);
    expect(seen).toEqual([ctx]);
  });

  it('does not say who wrote a result', () => {
    const own: ToolResult = { ok: true, value: 'long', untrusted: false };
    const short = reducer(() => ({ ok: true, value: 'short' }));
    const cleared = reducer(() => ({ ok: true, value: 'short', untrusted: false }));
    expect(reduceResult(own, short, ctx)).toEqual({ ok: true, value: 'short', untrusted: false });
    expect(reduceResult(success, cleared, ctx)).toEqual({ ok: true, value: 'short' });
  });

  it('lets a success become a failure', () => {
    expect(
      reduceResult(
        success,
        reducer(() => failure),
        ctx,
      ),
    ).toEqual(failure);
  });

  it.each<[string, ToolResult, (result: ToolResult) => unknown]>([
    [
      'throws',
      success,
      () => {
        throw new Error('no');
      },
    ],
    ['returns undefined', success, () => undefined],
    ['returns a string', success, () => 'short'],
    ['returns a success without a value', success, () => ({ ok: true })],
    ['returns ok: "true"', success, () => ({ ok: 'true', value: 'v' })],
    ['returns a promise', success, () => Promise.resolve({ ok: true, value: 'v' })],
    ['returns a promise that rejects', success, () => Promise.reject(new Error('late'))],
    ['turns a failure into a success', failure, () => ({ ok: true, value: 'fine' })],
    [
      'makes a success of the failure that it was given, and throws',
      failure,
      (result) => {
        Object.assign(result, { ok: true, value: 'fine' });
        throw new Error('after');
      },
    ],
    [
      'empties the structured payload that it was given, and throws',
      success,
      (result) => {
        if (result.ok) Object.assign(result.structured ?? {}, { rows: [] });
        throw new Error('after');
      },
    ],
  ])('ignores a reducer that %s', (_name, result, reduce) => {
    const before = structuredClone(result);
    expect(reduceResult(result, reducer(reduce), ctx)).toEqual(before);
  });
});

describe('trimResult', () => {
  it.each<[string, ToolResult, number, ToolResult]>([
    ['a value within the budget', success, 4, success],
    [
      'a value over the budget, with structured and cost kept',
      success,
      2,
      { ...success, value: `lo${truncationMarker(4)}` },
    ],
    ['an error over the budget', failure, 3, { ...failure, error: `bro${truncationMarker(6)}` }],
    ['a budget of 0', success, 0, { ...success, value: `${truncationMarker(4)}` }],
    [
      'a cut inside an emoji',
      { ok: true, value: 'a😀b' },
      2,
      { ok: true, value: `a${truncationMarker(4)}` },
    ],
  ])('cuts %s', (_name, result, budget, expected) => {
    expect(trimResult(result, budget)).toEqual(expected);
  });
});

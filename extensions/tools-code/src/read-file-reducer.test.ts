import { fuzz } from '@ethosagent/conformance/fuzz';
import type { ToolResult } from '@ethosagent/types';
import fc from 'fast-check';
import { assert, describe, expect, it } from 'vitest';
import { readFileReducer } from './read-file-reducer.js';

/** A result as `read_file` gives it. */
function read(lines: number, shown = lines, extra: object = {}): ToolResult {
  const body = Array.from({ length: shown }, (_, at) => `line ${at + 1}\n`).join('');
  const note =
    shown < lines
      ? `\n[lines 1-${shown} of ${lines} are shown; read on with offset ${shown + 1}]`
      : '';
  return {
    ok: true,
    value: body + note,
    structured: {
      path: '/p',
      totalLines: lines,
      startLine: 1,
      endLine: shown,
      sizeBytes: 2_048,
      ...extra,
    },
  };
}

const reduce = (result: ToolResult, args: unknown = {}) =>
  readFileReducer.reduce(result, { args, turnCount: 1 });

describe('readFileReducer', () => {
  it.each([
    ['2,000 of 5,000 lines', read(5_000, 2_000), 5_000],
    ['all of 900 lines', read(900), 900],
  ])('shows 200 lines of %s, and how large the file is', (_name, result, total) => {
    const reduced = reduce(result, { path: 'p', offset: 1, limit: 2_000, line_numbers: false });
    assert(reduced.ok);
    expect(reduced.value).toMatch(/^line 1\n[\s\S]*line 200\n\n\[2 KiB; lines 1-200 of/);
    expect(reduced.value).toContain(`of ${total} are shown; read on with offset 201`);
    expect(reduced.value).not.toContain('line 201');
    expect(reduced.structured).toMatchObject({ endLine: 200, totalLines: total });
  });

  const unchanged: [name: string, result: ToolResult, args: unknown][] = [
    ['200 lines', read(200), {}],
    ['a range that was asked for', read(900), { limit: 500 }],
    ['a later offset', read(900, 900, { startLine: 2 }), { offset: 2 }],
    ['a failure', { ok: false, error: 'x\n'.repeat(500), code: 'execution_failed' }, {}],
    [
      'a binary file',
      { ok: true, value: '[binary]', structured: { totalLines: 0, startLine: 0, endLine: 0 } },
      {},
    ],
    ['a result of another shape', { ok: true, value: 'x\n'.repeat(500) }, {}],
    ['arguments of another shape', read(900), 'nonsense'],
  ];
  it.each(unchanged)('leaves %s as it is', (_name, result, args) => {
    expect(reduce(result, args)).toBe(result);
  });

  it.each([
    [900, '900 bytes'],
    [1_048_576, '1.0 MiB'],
    [5_242_880, '5.0 MiB'],
  ])('tells of %i bytes as %s', (sizeBytes, shown) => {
    const reduced = reduce(read(900, 900, { sizeBytes }));
    assert(reduced.ok);
    expect(reduced.value).toContain(`[${shown}; lines`);
  });

  fuzz(
    'never throws, never makes a result longer, and gives the same for the same',
    fc.record({
      value: fc.string(),
      structured: fc.dictionary(fc.string(), fc.anything()),
      args: fc.anything(),
    }),
    ({ value, structured, args }) => {
      const result: ToolResult = { ok: true, value, structured };
      const reduced = reduce(result, args);
      assert(reduced.ok && reduced.value.length <= value.length);
      assert.deepEqual(reduce(result, args), reduced);
    },
    { runs: { check: 60, long: 30_000 } },
  );
});

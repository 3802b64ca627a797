import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { fileLinesOf } from './file-line.js';
import { PatchedText, splice } from './patched-text.js';
import { lineNumbersAt } from './text-lines.js';

const runs = { check: 200, long: 50_000 };
const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\t', '*', '\r', '\n', '\n', '\r\n'),
  maxLength: 60,
});
const cut = fc.tuple(fc.nat(60), fc.nat(5), text);
const settled = fc.option(fc.nat(12), { nil: undefined });

/** Edits that ascend and do not overlap, at most at the end of a text. */
function editsIn(length: number, cuts: readonly (readonly [number, number, string])[]) {
  let from = 0;
  return cuts.map(([at, taken, replacement]) => {
    const start = Math.min(from + at, length);
    const end = Math.min(start + taken, length);
    from = end;
    return { start, end, replacement };
  });
}

describe('PatchedText, whatever the edits', () => {
  fuzz(
    'has the lines, their numbers and the indentation of a text that is read anew',
    fc.tuple(
      text,
      fc.array(fc.tuple(fc.array(cut, { minLength: 1, maxLength: 10 }), settled, fc.nat(60))),
    ),
    ([before, changes]) => {
      const patched = new PatchedText(before);
      expect(patched.lines).toEqual(fileLinesOf(before));
      for (const [cuts, settle, offset] of changes) {
        const edits = editsIn(patched.text.length, cuts);
        const after = splice(patched.text, edits);
        patched.apply(edits);
        const fresh = new PatchedText(after);
        const at = Math.min(offset, after.length);
        if (settle !== undefined) patched.settle(settle);
        expect(patched.text).toBe(after);
        expect(patched.lineNumbersAt([at])).toEqual(lineNumbersAt(after, [at]));
        expect(patched.lines.map((line) => patched.indexOf(line))).toEqual([
          ...patched.lines.keys(),
        ]);
        expect(patched.style).toEqual(fresh.style);
      }
      patched.settle(patched.lines.length);
      expect(patched.lines).toEqual(fileLinesOf(patched.text));
    },
    { runs },
  );

  fuzz(
    'finds the same lines by their keys as in a text that is read anew',
    fc.tuple(text, fc.array(fc.array(cut, { minLength: 1, maxLength: 3 }))),
    ([before, changes]) => {
      const patched = new PatchedText(before);
      for (let search = 0; search < 4; search++) void patched.linesByKey;
      for (const cuts of changes) patched.apply(editsIn(patched.text.length, cuts));
      const found = [...(patched.linesByKey ?? [])].flatMap(([key, lines]) =>
        [...lines].map((line) => [key, patched.indexOf(line)]),
      );
      const expected = fileLinesOf(patched.text).flatMap(({ key }, at) =>
        key === '' ? [] : [[key, at]],
      );
      const byPlace = (list: (string | number)[][]) =>
        list.toSorted(([, a], [, b]) => Number(a) - Number(b));
      expect(byPlace(found)).toEqual(expected);
    },
    { runs },
  );
});

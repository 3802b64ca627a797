import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { parseHits, parsePaths } from './ripgrep-output.js';

const path = fc
  .string({
    unit: fc.constantFrom('a', 'b', '/', '\n', ':', '1', ' ', '\r', 'é', '😀'),
    minLength: 1,
    maxLength: 8,
  })
  .map((rest) => `/${rest}`);

describe('parsePaths, whatever the paths', () => {
  fuzz(
    'reads what was written, and leaves out what was cut off',
    fc.tuple(fc.array(path), path),
    ([paths, cut]) => {
      const stdout = paths.map((path) => `${path}\0`).join('');
      expect(parsePaths(stdout)).toEqual(paths);
      expect(parsePaths(stdout + cut)).toEqual(paths);
    },
  );
});

describe('parseHits, whatever the output', () => {
  const record = fc.record({
    at: fc.nat(),
    line: fc.nat(),
    column: fc.nat(),
    rest: fc.string({ unit: fc.constantFrom('x', ':', ' ', '\r', '1'), maxLength: 5 }),
    remark: fc.boolean(),
    stranger: fc.boolean(),
  });

  fuzz(
    'reads every record of the paths that were searched, past remarks and up to a cut',
    fc.tuple(
      fc.uniqueArray(path, { minLength: 1, maxLength: 4 }),
      fc.array(record, { maxLength: 6 }),
      fc.nat(12),
    ),
    ([paths, records, cut]) => {
      // A path that ends in another after a line break can be taken for it.
      fc.pre(
        paths.every((one) => !paths.some((other) => other !== one && one.endsWith(`\n${other}`))),
      );
      const lines = records.map(({ at, line, column, rest, remark, stranger }) => {
        const path = paths[at % paths.length] ?? '';
        return {
          path,
          hit: { line, column },
          text: `${remark ? 'binary file matches (found "\\0" byte around offset 3)\n' : ''}${stranger ? `x${path}\x009:9:\n` : ''}${path}\0${line}:${column}:${rest}\n`,
        };
      });
      const stdout = lines.map(({ text }) => text).join('');
      const found = parseHits(stdout, paths);
      expect([...found.keys()]).toEqual(paths);
      for (const path of paths) {
        expect(found.get(path)).toEqual(
          lines.filter((line) => line.path === path).map(({ hit }) => hit),
        );
      }
      const short = parseHits(stdout.slice(0, Math.max(stdout.length - cut, 0)), paths);
      for (const path of paths) {
        const all = found.get(path) ?? [];
        expect(all.slice(0, short.get(path)?.length)).toEqual(short.get(path));
      }
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'never throws, and names no path that was not searched',
    fc.tuple(
      fc.string({ unit: fc.constantFrom('/', 'a', '\0', '\n', ':', '1', '2'), maxLength: 30 }),
      fc.array(path),
    ),
    ([stdout, paths]) => {
      const found = parseHits(stdout, paths);
      expect(new Set(found.keys())).toEqual(new Set(paths));
      for (const hit of [...found.values()].flat())
        expect(Object.values(hit).every(Number.isInteger)).toBe(true);
    },
    { runs: { check: 100, long: 100_000 } },
  );

  const HOSTILE: Record<string, (size: number) => string> = {
    'remarks before a record': (size) =>
      `${'a: binary file matches\n'.repeat(size / 23)}/a\x001:2:\n`,
    'line breaks before a record': (size) => `${'\n'.repeat(size)}/a\x001:2:\n`,
    'NULs without records': (size) => '\0'.repeat(size),
    'records of nothing': (size) => '\0\n'.repeat(size / 2),
    records: (size) => '/a\x001:2:\n'.repeat(size / 8),
    digits: (size) => `/a\0${'1'.repeat(size)}\n`,
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (stdout) => parseHits(stdout, ['/a']));
  }
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { unifiedDiff } from './unified-diff.js';

const line = fc.constantFrom(
  '',
  'a',
  'b',
  ' a',
  '-b',
  '+c',
  '--- x',
  '+++ y',
  '@@ -1 +1 @@',
  '\\ No',
  'é',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 15 }), fc.boolean())
  .map(([lines, last]) => lines.join('\n') + (last && lines.length > 0 ? '\n' : ''));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'unified-diff-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe('unifiedDiff, whatever the texts', () => {
  fuzz(
    'is a patch that makes the second of the first, and counts its lines',
    fc.tuple(text, text),
    ([before, after]) => {
      const diff = unifiedDiff('f', before, after);
      expect(applyPatch(before, diff.text)).toBe(after);
      const marked = (mark: string) =>
        diff.text
          .split('\n')
          .slice(2)
          .filter((line) => line.startsWith(mark)).length;
      expect([diff.added, diff.removed]).toEqual([marked('+'), marked('-')]);
      expect(diff.text === '').toBe(before === after);
    },
    { runs: { check: 60, long: 50_000 } },
  );

  fuzz(
    'is one that git applies too',
    fc.tuple(text, text),
    ([before, after]) => {
      fc.pre(before !== after && before !== '' && after !== '');
      const file = join(dir, 'f');
      writeFileSync(file, before);
      const args = ['apply', '-p0', '--whitespace=nowarn', '--unsafe-paths', '-'];
      execFileSync('git', args, {
        cwd: dir,
        input: unifiedDiff('f', before, after).text,
        env: {
          PATH: process.env.PATH,
          GIT_CEILING_DIRECTORIES: tmpdir(),
          GIT_CONFIG_NOSYSTEM: '1',
          HOME: dir,
        },
      });
      expect(readFileSync(file, 'utf8')).toBe(after);
    },
    { runs: { check: 15, long: 5_000 } },
  );

  growsLinearly(
    'takes about linear time for texts that have nothing in common',
    (size) => ({ before: 'a\nb\n'.repeat(size / 4), after: 'c\nd\n'.repeat(size / 4) }),
    ({ before, after }) => unifiedDiff('f', before, after),
    { upTo: { check: 2_000, long: 1_024_000 } },
  );
});

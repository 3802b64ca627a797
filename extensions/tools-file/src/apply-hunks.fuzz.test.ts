import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { assert, describe, expect } from 'vitest';
import { applyHunks } from './apply-hunks.js';
import type { Hunk } from './hunk.js';
import { linesOf } from './text-lines.js';

const runs = { check: 100, long: 50_000 };

function applied(text: string, ...hunks: Hunk[]): string {
  const outcome = applyHunks(text, hunks);
  assert(outcome.ok, JSON.stringify(outcome));
  return outcome.text;
}

const piece = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\n', '\t', '$', '&', '1', '😀', 'é'),
});
const nonEmpty = piece.filter((text) => text !== '');

describe('applyHunks with an exact text, whatever it is', () => {
  fuzz(
    'replaces the only occurrence as splicing by hand does',
    fc.tuple(piece, nonEmpty, piece, piece),
    ([before, search, after, replace]) => {
      const text = before + search + after;
      fc.pre(text.indexOf(search) === text.lastIndexOf(search) && search !== replace);
      // The text already has the replacement, so it is not applied twice.
      fc.pre(replace.trim() === '' || !replace.includes(search) || !text.includes(replace));
      const at = text.indexOf(search);
      expect(applied(text, { search, replace, exact: true })).toBe(
        text.slice(0, at) + replace + text.slice(at + search.length),
      );
    },
    { runs },
  );

  fuzz(
    'replaces every occurrence as split and join do',
    fc.tuple(piece, nonEmpty, piece),
    ([text, search, replace]) => {
      fc.pre(text.includes(search) && search !== replace);
      expect(applied(text, { search, replace, replace_all: true })).toBe(
        text.split(search).join(replace),
      );
    },
    { runs },
  );

  fuzz(
    'edits a CRLF file as its LF twin, with LF hunks',
    fc.tuple(
      piece,
      fc.array(fc.record({ search: piece, replace: piece, replace_all: fc.boolean() })),
    ),
    ([text, hunks]) => {
      const unix = applyHunks(text, hunks);
      const dos = applyHunks(text.replaceAll('\n', '\r\n'), hunks);
      fc.pre(text.includes('\n'));
      expect(dos.ok).toBe(unix.ok);
      if (dos.ok && unix.ok && unix.hunks.length < 2) {
        expect(dos.text).toBe(unix.text.replaceAll('\n', '\r\n'));
      }
    },
    { runs },
  );
});

const line = fc.constantFrom('', 'a', 'b', '  a', '\tb', 'c c', '}', '{', 'é😀', '$&', '--- x');
const lines = fc.tuple(fc.array(line, { maxLength: 12 }), fc.boolean());
/** Two texts with the same line endings: a replacement takes those of its place. */
const twoFiles = fc
  .tuple(lines, lines, fc.constantFrom('\n', '\r\n'))
  .map(([before, after, ending]) =>
    [before, after].map(
      ([lines, last]) => lines.join(ending) + (last && lines.length > 0 ? ending : ''),
    ),
  );

/** The hunks that a careful model would write to turn one text into the other. */
function hunksBetween(before: string, after: string, context: number): Hunk[] {
  const patch = structuredPatch('f', 'f', before, after, undefined, undefined, { context });
  return patch.hunks.map(({ lines }) => {
    const side = (marks: string) => {
      const chosen: string[] = [];
      let kept = false;
      for (const one of lines) {
        if (one.startsWith('\\')) {
          if (kept) chosen[chosen.length - 1] = chosen.at(-1)?.slice(0, -1) ?? '';
          continue;
        }
        kept = marks.includes(one.charAt(0));
        if (kept) chosen.push(`${one.slice(1)}\n`);
      }
      return chosen.join('');
    };
    return { search: side(' -'), replace: side(' +') };
  });
}

describe('applyHunks with the difference of two texts', () => {
  fuzz(
    'makes the second of the first, where each hunk is there once',
    fc.tuple(twoFiles, fc.constantFrom(1, 3, 100)),
    ([[before = '', after = ''], context]) => {
      const hunks = hunksBetween(before, after, context);
      let current = before;
      for (const { search, replace } of hunks) {
        fc.pre(search !== '' && current.split(search).length === 2);
        current = current.replace(search, () => replace);
      }
      fc.pre(current === after);
      const literal = hunks.map((hunk) => ({ ...hunk, exact: true }));
      const exactly = applyHunks(before, literal);
      if (exactly.ok) expect(exactly.text).toBe(after);
      else expect(exactly.problem.kind).toBe('already applied');
      const outcome = applyHunks(before, hunks);
      // A last line that stays keeps its line ending, though the replacement leaves it out.
      const stays = hunks.some(({ search, replace }) => /\n$/.test(search) && /.$/.test(replace));
      const ending = before.includes('\r\n') ? '\r\n' : '\n';
      if (!outcome.ok) expect(outcome.problem.kind).not.toBe('empty');
      else expect([after, ...(stays ? [after + ending] : [])]).toContain(outcome.text);
    },
    {
      runs: { check: 100, long: 100_000 },
      corpus: [
        [['b\n--- x\na\n', 'a\na\n\né😀\nb\na'], 100],
        [['--- x', '--- x\r\n\r\n--- x\r\n$&\r\n'], 1],
      ],
    },
  );
});

const indent = fc.constantFrom('', '  ', '    ', '\t', '\t\t', '      ');
/** A block in which no two lines are alike. */
const block = fc
  .array(fc.tuple(indent, fc.constantFrom('x', 'y', 'if (a) {', '}', 'é b')), {
    minLength: 2,
    maxLength: 8,
  })
  .map((lines) => lines.map(([indent, text], at) => `${indent}${text} ${at}`));
/** How a model may have got the white space wrong, the same way throughout. */
const misread = fc.constantFrom<[name: string, (line: string) => string]>(
  ['nothing', (line) => line],
  ['trailing', (line) => `${line}  `],
  ['no indentation', (line) => line.trimStart()],
  ['spaces for tabs', (line) => line.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length))],
  ['deeper', (line) => `    ${line}`],
  ['double', (line) => line.replaceAll(' ', '  ')],
);

describe('applyHunks with a text whose white space is wrong', () => {
  fuzz(
    'changes the lines that are meant, with the indentation of the file, and no others',
    fc.tuple(block, misread, fc.nat(), fc.constantFrom('\n', '\r\n')),
    ([lines, [, misread], where, ending]) => {
      const at = where % lines.length;
      const indentOf = (line: string) => /^[ \t]*/.exec(line)?.[0] ?? '';
      const changed = lines.map((line, index) => (index === at ? `${indentOf(line)}new` : line));
      const outcome = applyHunks(lines.join(ending) + ending, [
        { search: lines.map(misread).join('\n'), replace: changed.map(misread).join('\n') },
      ]);
      // There is more than one way to fit it: it is refused, not guessed.
      if (!outcome.ok) {
        return expect(['unclear', 'ambiguous', 'already applied']).toContain(outcome.problem.kind);
      }
      const got = linesOf(outcome.text).map(({ text }) => text);
      const bare = (line: string) => line.trim().replaceAll(/ +/g, ' ');
      expect(got.map(bare)).toEqual(changed.map(bare));
      expect(got.map(indentOf)).toEqual(lines.map(indentOf));
      expect(outcome.text.replaceAll(ending, '')).not.toMatch(/[\r\n]/);
    },
    { runs },
  );
});

describe('applyHunks with a hunk that changes one line', () => {
  fuzz(
    'leaves all others as they are, byte for byte, and does not make the change twice',
    fc.tuple(
      block,
      misread,
      fc.nat(),
      fc.array(fc.constantFrom('\n', '\r\n', '  \n', '\t\r\n'), { minLength: 8, maxLength: 8 }),
    ),
    ([lines, [, misread], where, ends]) => {
      const at = where % lines.length;
      const file = lines.map((line, index) => line + ends[index]);
      const changed = lines.map((line, index) => (index === at ? `${line} new` : line));
      const hunk = {
        search: lines.map(misread).join('\n'),
        replace: changed.map(misread).join('\n'),
      };
      const outcome = applyHunks(`a\n${file.join('')}b`, [hunk]);
      if (!outcome.ok) return expect(outcome.problem.kind).toBe('unclear');
      const got = outcome.text.split(/(?<=\n)/);
      expect(got.length).toBe(file.length + 2);
      expect([got[0], got.at(-1)]).toEqual(['a\n', 'b']);
      const others = (all: readonly string[]) => all.filter((_, index) => index !== at);
      expect(others(got.slice(1, -1))).toEqual(others(file));
      expect(applyHunks(outcome.text, [hunk]).ok).toBe(false);
    },
    {
      runs,
      corpus: [[['x', '}'], ['nothing', (line) => line], 1, Array(8).fill('\r\n')]],
    },
  );
});

describe('applyHunks, whatever the hunks', () => {
  const wild = fc.string({
    unit: fc.constantFrom('a', 'b', ' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\ufeff', '\ud800'),
    maxLength: 20,
  });

  fuzz(
    'changes all or nothing, at lines that are there, and never throws',
    fc.tuple(
      wild,
      fc.array(fc.record({ search: wild, replace: wild, replace_all: fc.boolean() }), {
        maxLength: 3,
      }),
    ),
    ([text, hunks]) => {
      const outcome = applyHunks(text, hunks);
      if (!outcome.ok) return expect(outcome.index < hunks.length).toBe(true);
      expect(outcome.hunks.length).toBe(hunks.length);
      if (hunks.length !== 1) return;
      const [first] = outcome.hunks[0]?.lines ?? [];
      const before = linesOf(text);
      // The text before the first changed line stays.
      const kept = before[(first ?? 1) - 1]?.start ?? 0;
      expect(outcome.text.slice(0, kept)).toBe(text.slice(0, kept));
      if (hunks[0]?.replace_all !== true) expect(outcome.hunks[0]?.lines.length).toBe(1);
    },
    { runs },
  );

  const HOSTILE: Record<string, (size: number) => { text: string; hunk: Hunk }> = {
    'lines that are all alike except for indentation': (size) => ({
      text: ' a\n'.repeat(size / 3),
      hunk: { search: 'a\n'.repeat(size / 6), replace: 'b' },
    }),
    'the same, everywhere': (size) => ({
      text: ' a\n'.repeat(size / 3),
      hunk: { search: 'a\n'.repeat(size / 60), replace: 'b', replace_all: true },
    }),
    'blocks that differ in their last line': (size) => ({
      text: `${' a\n'.repeat(size / 30)}  a\n`.repeat(10),
      hunk: { search: 'a\n'.repeat(size / 30 + 1), replace: 'b' },
    }),
    'one character, everywhere': (size) => ({
      text: 'a'.repeat(size),
      hunk: { search: 'a', replace: 'b\n', replace_all: true },
    }),
    'a line break, everywhere, in a CRLF file': (size) => ({
      text: 'a\r\n'.repeat(size / 3),
      hunk: { search: '\n', replace: '\n\n', replace_all: true },
    }),
    'many indentations': (size) => {
      const depth = Math.floor(Math.sqrt(size));
      const lines = Array.from({ length: depth }, (_, at) => ' '.repeat(at));
      return {
        text: lines.map((indent) => `\t${indent}x`).join('\n'),
        hunk: {
          search: lines.map((indent) => `${indent}x`).join('\n'),
          replace: lines.map((indent) => `${indent}\ty`).join('\n'),
        },
      };
    },
    blanks: (size) => ({
      text: ' '.repeat(size),
      hunk: { search: ' '.repeat(size / 2), replace: '' },
    }),
    'blank lines': (size) => ({
      text: `${' \n'.repeat(size / 2)}x`,
      hunk: { search: `${'\n'.repeat(size / 4)}x  y`, replace: '' },
    }),
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes about linear time for ${what}`, inputOf, ({ text, hunk }) =>
      applyHunks(text, [hunk]),
    );
  }
});

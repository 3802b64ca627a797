import { posix } from 'node:path';
import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText, readCorpus } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isInside, path, segmentsOf } from './fixtures/paths-arbitraries.js';
import {
  compilePathSet,
  isDeclarablePath,
  isWithin,
  meetPathLists,
  meetPaths,
  normalizePath,
  pathProblem,
  resolveReach,
} from './paths.js';

const corpus = readCorpus<{
  compilePathSet: [roots: string[], asked: string][];
  meetPathLists: [a: string[], b: string[], asked: string][];
}>(new URL('./fixtures/corpus/paths.json', import.meta.url));
const runs = { check: 100, long: 100_000 };
const paths = fc.array(path, { maxLength: 5 });
const inAny = (asked: string, roots: readonly string[]) =>
  roots.some((root) => isInside(asked, root));
/** Includes texts that are not absolute paths. */
const text = fc.oneof(
  path,
  path.map((absolute) => absolute.slice(1)),
  anyText({ maxLength: 8 }),
  fc
    .tuple(fc.constantFrom('é', 'a', '漢', '😀', '\ud800'), fc.integer({ min: 1_000, max: 4_200 }))
    .map(([unit, length]) => `/${unit.repeat(length)}`),
);

describe('isWithin, whatever the paths', () => {
  fuzz(
    'says what comparing segments says',
    fc.tuple(text, text),
    ([asked, root]) => {
      expect(isWithin(asked, root)).toBe(isInside(asked, root));
    },
    { runs: { check: 200, long: 200_000 } },
  );

  fuzz(
    'says yes of what was joined below, however it is spelled',
    fc.tuple(path, path),
    ([root, below]) => {
      fc.pre(segmentsOf(root) !== undefined && segmentsOf(below) !== undefined);
      expect(isWithin(posix.join(root, posix.normalize(below)), root)).toBe(true);
      expect(isWithin(`${root}/x/..${posix.normalize(below)}`, root)).toBe(true);
    },
  );
});

describe('paths, whatever the text', () => {
  fuzz('pathProblem finds what can not name a file', text, (text) => {
    const bytes = Buffer.from(text);
    const isFine =
      text !== '' && !text.includes('\0') && bytes.length <= 4095 && bytes.toString() === text;
    expect(pathProblem(text) === undefined).toBe(isFine);
  });

  fuzz(
    'normalizePath gives an absolute path that means the same, once and for all',
    path,
    (path) => {
      fc.pre(segmentsOf(path) !== undefined);
      const normal = normalizePath(path);
      expect(normal).toBe(`/${segmentsOf(path)?.join('/')}`);
      expect(normalizePath(normal)).toBe(normal);
    },
  );

  fuzz('isDeclarablePath takes only what means what it says', text, (text) => {
    const parts = text.split(/[/\\]/);
    const isPlain = segmentsOf(text) !== undefined && !parts.includes('.') && !parts.includes('..');
    expect(isDeclarablePath(text)).toBe(isPlain);
  });

  const HOSTILE: Record<string, (size: number) => string> = {
    slashes: (size) => '/'.repeat(size),
    'dots and slashes': (size) => '/..'.repeat(size / 3),
    names: (size) => '/a'.repeat(size / 2),
    'half pairs': (size) => `/${'\ud800'.repeat(size)}`,
    'whole pairs': (size) => `/${'😀'.repeat(size / 2)}`,
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`take linear time for ${what}`, inputOf, (text) => [
      pathProblem(text),
      isWithin(text, '/a'),
      isDeclarablePath(text),
      normalizePath(text),
      meetPaths(text, text),
    ]);
  }

  growsLinearly(
    'compilePathSet takes about linear time for many roots',
    (size) => Array.from({ length: size / 20 }, (_, at) => `/r${at % 97}/${at}`),
    (roots) => compilePathSet(roots).covers('/r1/x/y'),
  );
});

describe('the meet of paths, whatever they are', () => {
  fuzz(
    'meetPaths is commutative, associative, idempotent and only narrows',
    fc.tuple(path, path, path),
    ([a, b, c]) => {
      const meet = (a: string | null, b: string | null) =>
        a === null || b === null ? null : meetPaths(a, b);
      expect(meet(a, b)).toBe(meet(b, a));
      expect(meet(meet(a, b), c)).toBe(meet(a, meet(b, c)));
      const self = meet(a, a);
      expect(self).toBe(segmentsOf(a) === undefined ? null : normalizePath(a));
      const met = meet(a, b);
      expect(met !== null && isInside(c, met)).toBe(isInside(c, a) && isInside(c, b));
    },
    { runs },
  );

  fuzz(
    'meetPathLists holds exactly what both lists hold, in as few roots as possible',
    fc.tuple(paths, paths, path),
    ([a, b, asked]) => {
      const meet = meetPathLists(a, b);
      expect(meet).toEqual(meetPathLists(b, a));
      expect(meetPathLists(meet, meet)).toEqual(meet);
      expect(meetPathLists(meet, a)).toEqual(meet);
      expect(inAny(asked, meet)).toBe(inAny(asked, a) && inAny(asked, b));
      for (const one of meet) expect(meet.filter((other) => isInside(one, other))).toEqual([one]);
    },
    { runs, corpus: corpus.meetPathLists },
  );

  fuzz(
    'resolveReach is what declaration and personality both hold',
    fc.tuple(paths, fc.option(paths, { nil: undefined }), path),
    ([declared, personality, asked]) => {
      const plain = (list: readonly string[]) => list.filter(isDeclarablePath);
      const expected =
        personality !== undefined &&
        inAny(asked, plain(declared)) &&
        inAny(asked, plain(personality));
      expect(inAny(asked, resolveReach(declared, personality))).toBe(expected);
      const whole = resolveReach('from-personality', personality);
      expect(inAny(asked, whole)).toBe(
        personality !== undefined && inAny(asked, plain(personality)),
      );
      expect(resolveReach(undefined, personality)).toEqual([]);
    },
    { runs },
  );
});

describe('compilePathSet, whatever the roots', () => {
  const sibling = fc.nat(40).map((at) => `/r${at}`);
  const many = fc.oneof(
    fc.array(text, { maxLength: 20 }),
    fc.array(sibling, { minLength: 8, maxLength: 30 }),
  );

  fuzz(
    'covers what comparing segments says, with no redundant root, few roots or many',
    fc.tuple(many, fc.oneof(path, sibling)),
    ([roots, asked]) => {
      const set = compilePathSet(roots);
      const root = set.covers(asked);
      expect(root !== undefined).toBe(inAny(asked, roots));
      if (root !== undefined) expect(isInside(asked, root)).toBe(true);
      if (segmentsOf(asked) !== undefined)
        expect(set.coversNormal(normalizePath(asked))).toBe(root);
      for (const one of set.roots) {
        expect(set.roots.filter((other) => isInside(one, other))).toEqual([one]);
      }
      expect(compilePathSet(set.roots).roots).toEqual(set.roots);
    },
    { runs, corpus: corpus.compilePathSet },
  );
});

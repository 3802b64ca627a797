import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

describe('isWithin', () => {
  it.each([
    ['/data', '/data', true],
    ['/data/x', '/data', true],
    ['/data/x', '/data/', true],
    ['/data/', '/data', true],
    ['/data//x', '/data', true],
    ['/data/./x', '/data', true],
    ['/data/y/../x', '/data', true],
    ['/database', '/data', false],
    ['/data', '/data/x', false],
    ['/data/../etc', '/data', false],
    ['/data/..', '/data', false],
    ['/anything', '/', true],
    ['/', '/', true],
    ['/', '/data', false],
    ['data/x', '/', false],
    ['data/x', 'data', false],
    ['', '/', false],
    ['/data/x', '', false],
    ['/data/\0', '/data', false],
    ['/Data/x', '/data', false],
    ['/data /x', '/data', false],
    ['/data/..x', '/data', true],
    ['/data/...', '/data', true],
  ])('isWithin(%j, %j) is %j', (path, root, expected) => {
    expect(isWithin(path, root)).toBe(expected);
    expect(compilePathSet([root]).covers(path) !== undefined).toBe(expected);
  });
});

describe('pathProblem', () => {
  it.each([
    ['/a', undefined],
    ['/\u{1F600}', undefined],
    ['', 'empty'],
    ['/a\0b', 'NUL'],
    [`/${'x'.repeat(4094)}`, undefined],
    [`/${'x'.repeat(4095)}`, 'longer'],
    [`/${'é'.repeat(2048)}`, 'longer'],
    ['/a\uD800', 'surrogate'],
    ['/\uDC00\uD800', 'surrogate'],
  ])('pathProblem(%j)', (path, expected) => {
    const problem = pathProblem(path);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
  });
});

describe('isDeclarablePath', () => {
  it.each([
    ['/', true],
    ['/data', true],
    ['/data/', true],
    ['/data/.hidden', true],
    ['/data/../etc', false],
    ['/data/..', false],
    ['/data/.', false],
    ['/./data', false],
    ['data', false],
    ['./data', false],
    ['~/data', false],
    ['', false],
    ['/data\0', false],
    ['/data/..\\..\\x', false],
  ])('isDeclarablePath(%j) is %j', (path, expected) => {
    expect(isDeclarablePath(path)).toBe(expected);
  });
});

describe('normalizePath', () => {
  it.each([
    ['/a//b/', '/x', '/a/b'],
    ['b/../c', '/x', '/x/c'],
    ['', '/x', '/x'],
    ['/a/../../b', '/x', '/b'],
  ])('normalizePath(%j, %j) is %j', (path, base, expected) => {
    expect(normalizePath(path, base)).toBe(expected);
  });

  it('normalizePath resolves against the working directory without a base', () => {
    expect(normalizePath('x')).toBe(`${process.cwd()}/x`);
  });
});

describe('resolveReach', () => {
  it.each<[string[] | 'from-personality' | undefined, string[] | undefined, string[]]>([
    [['/data'], ['/data', '/home'], ['/data']],
    [['/data'], ['/home'], []],
    ['from-personality', ['/data', '/home'], ['/data', '/home']],
    ['from-personality', undefined, []],
    [['/data'], undefined, []],
    [undefined, ['/data'], []],
    [['/'], ['/data/x'], ['/data/x']],
    [['/data/x', '/data'], ['/'], ['/data']],
    [['/data'], [], []],
    [[], ['/data'], []],
    [['/data/../etc'], ['/data'], []],
    [['/data/../etc'], ['/etc'], []],
    ['from-personality', ['/data/../etc', '/data', 'rel', ''], ['/data']],
    ['from-personality', ['/data/', '/data'], ['/data']],
    [['/data-x', '/data', '/data/y'], ['/'], ['/data-x', '/data']],
  ])('resolveReach(%j, %j) is %j', (declared, personality, expected) => {
    expect(resolveReach(declared, personality)).toEqual(expected);
  });
});

const segment = fc.constantFrom('a', 'b', 'ab', 'a-b', 'a b', 'c', '.', '..', '', '…', '\0', 'A');
const path = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`);
const paths = fc.array(path, { maxLength: 5 });
const inside = (asked: string, roots: readonly string[]) =>
  roots.some((root) => isWithin(asked, root));

describe('the meet of paths', () => {
  it('meetPaths is commutative, idempotent and only narrows', () => {
    fc.assert(
      fc.property(path, path, path, (a, b, asked) => {
        const meet = meetPaths(a, b);
        expect(meet).toBe(meetPaths(b, a));
        if (pathProblem(a) === undefined) expect(isWithin(a, meetPaths(a, a) ?? '')).toBe(true);
        const met = meet !== null && isWithin(asked, meet);
        expect(met).toBe(isWithin(asked, a) && isWithin(asked, b));
      }),
      { numRuns: 2000 },
    );
  });

  it('meetPathLists holds exactly what both lists hold', () => {
    fc.assert(
      fc.property(paths, paths, path, (a, b, asked) => {
        const meet = meetPathLists(a, b);
        expect(meet).toEqual(meetPathLists(b, a));
        expect(meetPathLists(meet, meet)).toEqual(meet);
        expect(meetPathLists(meet, a)).toEqual(meet);
        expect(inside(asked, meet)).toBe(inside(asked, a) && inside(asked, b));
      }),
      { numRuns: 2000 },
    );
  });

  it('compilePathSet.coversNormal agrees with covers on normalised paths, few roots or many', () => {
    const many = fc.array(path, { maxLength: 20 });
    fc.assert(
      fc.property(many, path, (roots, asked) => {
        fc.pre(pathProblem(asked) === undefined);
        const set = compilePathSet(roots);
        expect(set.coversNormal(normalizePath(asked))).toBe(set.covers(asked));
      }),
      { numRuns: 2000 },
    );
  });

  it('compilePathSet covers what isWithin says, with no redundant root', () => {
    fc.assert(
      fc.property(paths, path, (roots, asked) => {
        const set = compilePathSet(roots);
        const root = set.covers(asked);
        expect(root !== undefined).toBe(inside(asked, roots));
        if (root !== undefined) expect(isWithin(asked, root)).toBe(true);
        for (const one of set.roots) {
          expect(set.roots.filter((other) => isWithin(one, other))).toEqual([one]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('resolveReach never exceeds the personality or the declaration', () => {
    fc.assert(
      fc.property(paths, paths, path, (declared, personality, asked) => {
        if (!inside(asked, resolveReach(declared, personality))) return;
        expect(inside(asked, declared)).toBe(true);
        expect(inside(asked, personality)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import {
  compilePathSet,
  isDeclarablePath,
  isWithin,
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

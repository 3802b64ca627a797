import { describe, expect, it } from 'vitest';
import { type PathVariables, resolveReachPath } from './substitute.js';

const variables: PathVariables = {
  ETHOS_HOME: '/home/x/.ethos',
  self: '/home/x/.ethos/personalities/coder',
  CWD: '/home/x/repo',
};

describe('resolveReachPath', () => {
  it.each([
    ['/data', '/data'],
    ['/data/', '/data'],
    ['/data//a/./b/', '/data/a/b'],
    ['/', '/'],
    ['/data/..a/b..', '/data/..a/b..'],
    ['/data/$HOME', '/data/$HOME'],
    ['${ETHOS_HOME}', '/home/x/.ethos'],
    ['${self}/notes', '/home/x/.ethos/personalities/coder/notes'],
    ['${CWD}', '/home/x/repo'],
    ['${CWD}/', '/home/x/repo'],
    ['${CWD}/src', '/home/x/repo/src'],
  ])('reads %j as %j', (entry, path) => {
    expect(resolveReachPath(entry, variables)).toEqual({ ok: true, path });
  });

  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['data', 'absolute'],
    ['.', 'absolute'],
    ['~/data', 'absolute'],
    ['$CWD/data', 'absolute'],
    [' /data', 'absolute'],
    ['/data/..', '".."'],
    ['/data/../etc', '".."'],
    ['/data\\..\\etc', '".."'],
    ['..', 'absolute'],
    ['${CWD}/../other', '".."'],
    ['${HOME}', 'unknown variable'],
    ['${cwd}', 'unknown variable'],
    ['${SELF}/x', 'unknown variable'],
    ['${}', 'unknown variable'],
    ['${ CWD }', 'unknown variable'],
    ['${constructor}', 'unknown variable'],
    ['${__proto__}', 'unknown variable'],
    ['${CWD', 'whole and at the start'],
    ['$${CWD}', 'whole and at the start'],
    ['/data/${CWD}', 'whole and at the start'],
    ['${CWD}/${self}', 'whole and at the start'],
    ['${CWD}${self}', 'put a /'],
    ['${CWD}-other', 'put a /'],
    ['${CWD}\n/x', 'put a /'],
    ['/data\0', 'NUL'],
    ['/data/\ud800', 'surrogate'],
  ])('refuses %j', (entry, fragment) => {
    const result = resolveReachPath(entry, variables);
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(fragment) });
  });

  it.each([
    [undefined, 'no absolute path'],
    ['', 'no absolute path'],
    ['repo', 'no absolute path'],
    ['/home/x/../y', '".."'],
  ])('refuses ${CWD} and ${CWD}/etc when the value is %j', (CWD, fragment) => {
    for (const entry of ['${CWD}', '${CWD}/etc']) {
      const result = resolveReachPath(entry, { ...variables, CWD });
      expect(result).toMatchObject({ ok: false, message: expect.stringContaining(fragment) });
    }
  });

  it('takes a value literally, whatever it looks like', () => {
    const CWD = '/a/${self}/$&/$1';
    expect(resolveReachPath('${CWD}/b', { ...variables, CWD })).toEqual({
      ok: true,
      path: '/a/${self}/$&/$1/b',
    });
  });
});

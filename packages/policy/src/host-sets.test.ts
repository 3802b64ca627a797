import { describe, expect, it } from 'vitest';
import {
  compileHostCover,
  compileHostSet,
  compileNamedMachines,
  meetHostLists,
  resolveAllowedHosts,
} from './host-sets.js';

describe('compileHostCover', () => {
  // With the longest name there is, no host can be put before it to ask for.
  const longest = `*.${Array.from({ length: 4 }, () => 'a'.repeat(62)).join('.')}.b`;

  it.each<[string, string[], string, boolean]>([
    ['a pattern by a wider one', ['*.com'], '*.a.com', true],
    ['a pattern by itself, in any spelling', ['*.A.com.'], '*.a.com', true],
    ['a host by its suffix', ['*.com'], 'a.com', true],
    ['a port by the pattern without', ['a.com'], 'a.com:80', true],
    ['the longest name', ['*'], longest, true],
    ['a wider pattern by a narrower one', ['*.a.com'], '*.com', false],
    ['a suffix by the host of its name', ['com'], '*.com', false],
    ['every port by one', ['a.com:80'], 'a.com', false],
    ['an address by a suffix of numbers', ['*.0.0.1'], '10.0.0.1', false],
    ['what no pattern covers', [], 'a.com', false],
    ['what is no pattern, without any', [], 'a*b', false],
    ['what is no pattern, since it has no host', ['a.com'], 'a*b', true],
  ])('%s', (_name, patterns, asked, expected) => {
    expect(compileHostCover(patterns)(asked)).toBe(expected);
  });
});

describe('compileHostSet', () => {
  it('says which pattern matched, one that names the port first', () => {
    const set = compileHostSet(['*', '*.a.com', 'x.a.com', 'x.a.com:8080', '*:9090']);
    expect(set.matches('x.a.com', 80)).toBe('x.a.com');
    expect(set.matches('X.A.com.', 8080)).toBe('x.a.com:8080');
    expect(set.matches('x.a.com', 9090)).toBe('*:9090');
    expect(set.matches('x.a.com')).toBe('x.a.com');
    expect(set.matches('y.x.a.com', 80)).toBe('*.a.com');
    expect(set.matches('a.com', 80)).toBe('*');
  });

  it('matches nothing for patterns that do not parse, and lists only the others', () => {
    const set = compileHostSet(['a*b', 'http://a.com', 'A.com']);
    expect(set.patterns).toEqual(['a.com']);
    expect(set.matches('a.com', 80)).toBe('a.com');
    expect(set.matches('a*b', 80)).toBeUndefined();
  });
});

describe('meetHostLists', () => {
  it('keeps what both cover, and drops what another entry covers', () => {
    expect(meetHostLists(['*.a.com', 'x.a.com', 'b.com'], ['*', 'b.com:443'])).toEqual([
      '*.a.com',
      'b.com',
    ]);
    expect(meetHostLists(['api.github.com', 'api.stripe.com'], ['*.github.com'])).toEqual([
      'api.github.com',
    ]);
    expect(meetHostLists(['a.com'], [])).toEqual([]);
    expect(meetHostLists(['a*b'], ['*'])).toEqual([]);
  });
});

describe('resolveAllowedHosts', () => {
  const table: [string[], string[] | undefined, string[]][] = [
    [['api.exa.ai'], ['api.exa.ai', 'api.openai.com'], ['api.exa.ai']],
    [['api.exa.ai'], ['*.exa.ai'], ['api.exa.ai']],
    [['api.exa.ai'], ['api.openai.com'], []],
    [['api.exa.ai'], undefined, ['api.exa.ai']],
    [['*'], ['api.github.com'], ['api.github.com']],
    [['*'], ['api.github.com', '*.openai.com'], ['*.openai.com', 'api.github.com']],
    [['*'], undefined, []],
    [['*'], ['*'], ['*']],
    [['*'], [], []],
    [['api.exa.ai'], [], []],
    [['*.github.com'], ['api.github.com'], ['api.github.com']],
    [['*.github.com'], undefined, ['*.github.com']],
    [['*', 'a.com'], undefined, ['a.com']],
    [['*:443'], undefined, []],
    [['*:443'], ['a.com'], ['a.com:443']],
    [['a*b'], undefined, []],
  ];
  it.each(table)('of %j under %j is %j', (declared, allow, expected) => {
    expect(resolveAllowedHosts(declared, allow)).toEqual(expected);
  });
});

describe('compileNamedMachines', () => {
  it('keeps IP addresses and localhost, with or without a port, and nothing else', () => {
    const named = compileNamedMachines([
      '127.0.0.1',
      '0x7f000002',
      '[::1]:8080',
      'LOCALHOST:3000',
      '*',
      '*.localhost',
      'intranet.example',
      '*:80',
    ]);
    expect(named.patterns).toEqual(['127.0.0.1', '127.0.0.2', '[::1]:8080', 'localhost:3000']);
    expect(named.matches('localhost', 3001)).toBeUndefined();
    expect(named.matches('::1', 8080)).toBe('[::1]:8080');
  });
});

import { describe, expect, it } from 'vitest';
import { hostMatches, meetHosts, normalizeHost, parseHostPattern } from './hosts.js';

describe('normalizeHost', () => {
  const table: [string, string | null][] = [
    ['api.github.com', 'api.github.com'],
    ['API.GitHub.com', 'api.github.com'],
    ['evil.com.', 'evil.com'],
    ['evil.com..', null],
    ['evil.com。', 'evil.com'],
    ['evil..com', null],
    ['.evil.com', null],
    ['.', null],
    ['', null],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['BÜCHER.de', 'xn--bcher-kva.de'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['xn--a', null],
    ['my_host.internal', 'my_host.internal'],
    ['faß.de', 'xn--fa-hia.de'],
    ['localhost', 'localhost'],
    ['LOCALHOST.', 'localhost'],
    ['127.1', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['１２７.０.０.１', '127.0.0.1'],
    ['256.1.1.1', null],
    ['1.2.3.4.5', null],
    ['a.1', null],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['[::FFFF:127.0.0.1]', '::ffff:7f00:1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['fe80::1%eth0', null],
    ['[fe80::1%25eth0]', null],
    ['[::1', null],
    ['::1]', null],
    ['[[::1]]', null],
    ['[a.com]', null],
    ['a.com:80', null],
    ['user@a.com', null],
    ['a.com/b', null],
    ['a.com\\b', null],
    ['a.com?b', null],
    ['a.com#b', null],
    ['a.com\u0000.b.com', null],
    ['a.\tcom', null],
    [' a.com', null],
    ['a.com\n', null],
    ['a%2ecom', null],
    ['%61.com', null],
    ['*.a.com', null],
    ['*', null],
    ['a,b.com', null],
    [`${'a'.repeat(5_000)}.com`, null],
  ];
  it.each(table)('reads %j as %j', (input, expected) => {
    expect(normalizeHost(input)).toBe(expected);
  });
});

describe('parseHostPattern', () => {
  const table: [string, string | null][] = [
    ['a.com', 'a.com'],
    ['A.com:8080', 'a.com:8080'],
    ['*.GitHub.com', '*.github.com'],
    ['*.github.com:443', '*.github.com:443'],
    ['*.com', '*.com'],
    ['*', '*'],
    ['*:8080', '*:8080'],
    ['[::1]:8080', '[::1]:8080'],
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['127.0.0.1:3000', '127.0.0.1:3000'],
    ['*.127.0.0.1', null],
    ['*.1', null],
    ['*.::1', null],
    ['*.[::1]', null],
    ['*.', null],
    ['**', null],
    ['*.*', null],
    ['*.*.com', null],
    ['a.*.com', null],
    ['*a.com', null],
    ['git*.com', null],
    ['a.com:', null],
    ['a.com:0', null],
    ['a.com:080', null],
    ['a.com:65536', null],
    ['a.com:http', null],
    ['a.com:*', null],
    ['http://a.com', null],
    ['a.com/path', null],
    ['user@a.com', null],
    ['', null],
    [':80', null],
    [' a.com', null],
  ];
  it.each(table)('reads %j as %j', (input, expected) => {
    expect(parseHostPattern(input)?.text ?? null).toBe(expected);
  });
});

describe('hostMatches', () => {
  const table: [string, string, boolean][] = [
    ['api.github.com', 'api.github.com', true],
    ['api.github.com', 'raw.github.com', false],
    ['*', 'anything.example', true],
    ['*.github.com', 'api.github.com', true],
    ['*.github.com', 'raw.github.com', true],
    ['*.github.com', 'a.b.github.com', true],
    ['*.github.com', 'github.com', false],
    ['*.github.com', 'evilgithub.com', false],
    ['*.github.com', 'api.github.com.evil.com', false],
    ['github.com', 'api.github.com', false],
    ['EVIL.com', 'evil.com.', true],
    ['evil.com', 'EVIL.COM', true],
    ['bücher.de', 'xn--bcher-kva.de', true],
    ['a.com', 'a.com:8080', true],
    ['a.com:8080', 'a.com:8080', true],
    ['a.com:8080', 'a.com:8081', false],
    ['a.com:8080', 'a.com', false],
    ['*:443', 'a.com:443', true],
    ['*:443', 'a.com:80', false],
    ['::1', '[::1]:8080', true],
    ['[::1]:8080', '[0:0::1]:8080', true],
    ['127.0.0.1', '0x7f.1', true],
    ['a.*', 'a.com', false],
    ['a.com', 'a.com/b', false],
    ['*', 'a b', false],
    ['*', '*.a.com', false],
    ['*', '*', false],
  ];
  it.each(table)('of %j and %j is %j', (rule, target, expected) => {
    expect(hostMatches(rule, target)).toBe(expected);
  });
});

describe('meetHosts', () => {
  const table: [string, string, string | null][] = [
    ['*.github.com', 'api.github.com', 'api.github.com'],
    ['*.github.com', '*.github.com', '*.github.com'],
    ['api.github.com', '*', 'api.github.com'],
    ['*', '*', '*'],
    ['*.com', '*.github.com', '*.github.com'],
    ['*.github.com', 'github.com', null],
    ['a.com', 'b.com', null],
    ['a.com', 'a.com:8080', 'a.com:8080'],
    ['a.com:1', 'a.com:2', null],
    ['*.a.com:443', 'x.a.com', 'x.a.com:443'],
    ['*:443', '*.a.com', '*.a.com:443'],
    ['[::1]:80', '*', '[::1]:80'],
    ['A.com', 'a.com.', 'a.com'],
    ['a*b', '*', null],
    ['*', '', null],
  ];
  it.each(table)('of %j and %j is %j, either way round', (a, b, expected) => {
    expect(meetHosts(a, b)).toBe(expected);
    expect(meetHosts(b, a)).toBe(expected);
  });
});

import { tries } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithin } from './paths.js';
import {
  compileSourceTrust,
  isWritten,
  meetTrustedSources,
  trustedTools,
  WrittenPlaces,
} from './source-trust.js';
import { isSourceEntry, parseTrustedSource } from './trusted-source.js';

const url = (text: string) => ({ kind: 'url', url: text }) as const;
const file = (path: string, real = path) => ({ kind: 'file', path, real }) as const;

describe('compileSourceTrust, of pages', () => {
  it.each<[trust: string, read: string, covers: boolean]>([
    ['https://docs.example.com/*', 'https://docs.example.com/', true],
    ['https://docs.example.com/*', 'https://docs.example.com/a/b?c=d#e', true],
    ['https://docs.example.com/**', 'https://docs.example.com/a/b', true],
    ['https://DOCS.example.com/*', 'https://docs.EXAMPLE.com/a', true],
    ['https://docs.example.com:443/*', 'https://docs.example.com/a', true],
    ['https://docs.example.com/*', 'https://docs.example.com./a', true],
    ['https://bücher.example/*', 'https://xn--bcher-kva.example/a', true],
    // Another host.
    ['https://docs.example.com/*', 'https://docs.example.com.evil.com/', false],
    ['https://docs.example.com/*', 'https://docs.example.com@evil.com/', false],
    ['https://docs.example.com/*', 'https://docs.example.com:x@evil.com/', false],
    ['https://docs.example.com/*', 'https://evil.com/https://docs.example.com/', false],
    ['https://docs.example.com/*', 'https://evil.com#https://docs.example.com/', false],
    ['https://docs.example.com/*', 'https://evil.com\\@docs.example.com/', false],
    ['https://docs.example.com/*', 'https://a.docs.example.com/', false],
    ['https://docs.example.com/*', 'https://example.com/', false],
    ['https://docs.example.com/*', 'https://xdocs.example.com/', false],
    // Another way to the same host.
    ['https://docs.example.com/*', 'http://docs.example.com/', false],
    ['https://docs.example.com/*', 'https://docs.example.com:8443/', false],
    ['https://docs.example.com/*', 'https://me:pw@docs.example.com/', false],
    ['https://docs.example.com/*', 'wss://docs.example.com/', false],
    ['https://docs.example.com/*', 'docs.example.com/', false],
    ['https://docs.example.com:8443/*', 'https://docs.example.com/', false],
    // Paths.
    ['https://example.com/docs/*', 'https://example.com/docs/', true],
    ['https://example.com/docs/*', 'https://example.com/docs/a%20b/c.html', true],
    ['https://example.com/docs/*', 'https://example.com/docs/a/../b', true],
    ['https://example.com/docs/*', 'https://example.com/docs', false],
    ['https://example.com/docs/*', 'https://example.com/Docs/a', false],
    ['https://example.com/docs/*', 'https://example.com/docsx/a', false],
    ['https://example.com/docs/*', 'https://example.com/docs/../mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/%2e%2e/mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..%2fmine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..%252fmine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..\\mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..%5cmine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..;/mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/..%3b/mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/%c0%ae%c0%ae/mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/%EF%BC%8E%EF%BC%8E/mine', false],
    ['https://example.com/docs/*', 'https://example.com/docs/x%00/mine', false],
    ['https://example.com/page', 'https://example.com/page?a=b', true],
    ['https://example.com/page', 'https://example.com/page/', false],
    ['https://example.com/page', 'https://example.com/page2', false],
    // This machine.
    ['http://localhost:3000/*', 'http://localhost:3000/a', true],
    ['http://127.0.0.1:3000/*', 'http://127.0.0.1:3000/a', true],
    ['http://[::1]:3000/*', 'http://[::1]:3000/a', true],
    ['http://localhost:3000/*', 'http://localhost:3001/a', false],
    ['http://localhost:3000/*', 'http://localhost.evil.com:3000/a', false],
  ])('%s and %s: %s', (trust, read, covers) => {
    expect(compileSourceTrust([trust]).covers(url(read))).toBe(covers);
  });
});

describe('compileSourceTrust, of files', () => {
  it.each<[trust: string, read: string, covers: boolean]>([
    ['/work/**', '/work/a/b', true],
    ['/work/**', '/work', true],
    ['/work/**', '/works/a', false],
    ['/work/**', '/', false],
    ['/work/a.md', '/work/a.md', true],
    ['/work/a.md', '/work/a.md/b', false],
    ['/work/a.md', '/work', false],
  ])('%s and %s: %s', (trust, read, covers) => {
    expect(compileSourceTrust([trust]).covers(file(read))).toBe(covers);
  });

  it('goes by where a path leads, of what was read and of what is trusted', () => {
    const trust = compileSourceTrust(['/work/**'], (path) => path.replace('/work', '/real'));
    expect(trust.covers(file('/work/a', '/real/a'))).toBe(true);
    expect(trust.covers(file('/work/link', '/tmp/evil'))).toBe(false);
    expect(trust.covers(file('/work/a', '/work/a'))).toBe(false);
    expect(compileSourceTrust(['/work/**'], () => undefined).covers(file('/work/a'))).toBe(false);
  });

  it('trusts no page for a path, and no path for a page', () => {
    expect(compileSourceTrust(['/work/**']).covers(url('file:///work/a'))).toBe(false);
    expect(compileSourceTrust(['https://work/*']).covers(file('/work/a'))).toBe(false);
  });
});

describe('parseTrustedSource refuses', () => {
  it.each<[entry: string, problem: RegExp]>([
    ['*', /is no source/],
    ['**', /is no source/],
    ['/', /every file of the machine/],
    ['/**', /every file of the machine/],
    ['//**', /every file of the machine/],
    ['/work/../x/**', /"\.\." segments/],
    ['/work/*', /only at its end/],
    ['/work/*/x/**', /only at its end/],
    ['work/**', /is no source/],
    ['docs.example.com/*', /is no source/],
    ['https://', /not a URL/],
    ['https://*', /name each host|not a URL/],
    ['https://*/*', /name each host|not a URL/],
    ['https://*.com/*', /name each host|not a URL/],
    ['https://*.example.com/*', /name each host|not a URL/],
    ['https://docs.*.com/*', /name each host|not a URL/],
    ['http://docs.example.com/*', /must begin with https/],
    ['ftp://docs.example.com/*', /must begin with https/],
    ['javascript://docs.example.com/*', /must begin with https/],
    ['https:docs.example.com/*', /not a URL/],
    ['https://docs.example.com', /names no page/],
    ['https://docs.example.com*', /names no page|name each host|not a URL/],
    ['https://me@docs.example.com/*', /user name/],
    ['https://docs.example.com/a?b=*', /must not hold/],
    ['https://docs.example.com/#*', /must not hold/],
    ['https://docs.example.com/a*', /after a \//],
    ['https://docs.example.com/*/a/*', /after a \//],
    ['https://docs.example.com/a/../*', /several ways/],
    ['https://docs.example.com/a%2fb/*', /several ways/],
    ['https://docs.exa\tmple.com/*', /not a URL/],
    ['https://docs.example.com\\@evil.com/*', /not a URL/],
  ])('%s', (entry, problem) => {
    expect(parseTrustedSource(entry)).toEqual({
      ok: false,
      problem: expect.stringMatching(problem),
    });
    const trust = compileSourceTrust([entry]);
    expect(trust.isEmpty).toBe(true);
    expect(trust.covers(url('https://docs.example.com/a'))).toBe(false);
    expect(trust.covers(file('/work/a'))).toBe(false);
  });
});

describe('an entry of trust', () => {
  it('is a tool or a group, or a source', () => {
    const all = ['read_file', 'file', 'mcp__a__b', 'https://a.example/*', '/work/**'];
    expect(trustedTools(all)).toEqual(['read_file', 'file', 'mcp__a__b']);
    expect(all.filter(isSourceEntry)).toEqual(['https://a.example/*', '/work/**']);
    expect(trustedTools(undefined)).toEqual([]);
  });
});

describe('meetTrustedSources', () => {
  it.each<[a: string[], b: string[], met: string[]]>([
    [['https://a.example/*'], ['https://a.example/docs/*'], ['https://a.example/docs/*']],
    [['https://a.example/docs/x'], ['https://a.example/*'], ['https://a.example/docs/x']],
    [['https://a.example/*'], ['https://b.example/*'], []],
    [['/work/**'], ['/work/a/**', '/other/**'], ['/work/a/**']],
    [['/work/**'], ['/work/a.md'], ['/work/a.md']],
    [['/work/**'], [], []],
  ])('%s and %s: %s', (a, b, met) => {
    expect(meetTrustedSources(a, b)).toEqual(met);
  });

  it('goes by where folders lead', () => {
    const lead = (path: string) => path.replace('/work/link', '/elsewhere');
    expect(meetTrustedSources(['/work/**'], ['/work/link/**'], lead)).toEqual([]);
    expect(meetTrustedSources(['/elsewhere/**'], ['/work/link/**'], lead)).toEqual([
      '/elsewhere/**',
    ]);
  });
});

describe('isWritten', () => {
  it.each<[path: string, real: string, written: string[], is: boolean]>([
    ['/w/a', '/w/a', [], false],
    ['/w/a', '/w/a', ['/w/a'], true],
    ['/w/a', '/w/a', ['/w'], true],
    ['/w/a', '/w/a', ['/'], true],
    ['/w/a', '/w/a', ['/w/ab'], false],
    // A folder that contains a written file.
    ['/w', '/w', ['/w/a'], true],
    ['/w/link', '/x/a', ['/x/a'], true],
    ['/w/link', '/x/a', ['/w/link'], true],
  ])('%s, which is %s, among %s: %s', (path, real, written, is) => {
    expect(isWritten({ kind: 'file', path, real }, written)).toBe(is);
  });
});

describe('WrittenPlaces', () => {
  const folder = fc
    .array(fc.constantFrom('a', 'b', 'ab'), { minLength: 0, maxLength: 4 })
    .map((names) => `/${names.join('/')}`);
  const change = fc.record({ path: folder, isAdded: fc.boolean() });

  it('answers as each of its places does, after whatever was added and deleted', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), folder, folder, (changes, path, real) => {
        const places = new WrittenPlaces();
        const kept = new Set<string>();
        for (const { path: place, isAdded } of changes) {
          if (isAdded) places.add(place);
          else places.delete(place);
          if (isAdded) kept.add(place);
          else kept.delete(place);
        }
        const all = [...kept];
        expect(places.holds(path)).toBe(all.some((place) => isWithin(path, place)));
        expect(places.isWritten({ kind: 'file', path, real })).toBe(
          all.some((place) =>
            [path, real].some((read) => isWithin(read, place) || isWithin(place, read)),
          ),
        );
      }),
      { numRuns: tries({ check: 500, long: 100_000 }) },
    );
  });

  it('knows a place by any spelling, and counts what names no file for nothing', () => {
    const places = new WrittenPlaces(['/w/./x/../a/', 'relative', '/w/\0']);
    expect(
      ['/w/a', '/w//a/b', '/w', 'relative', '/w/\0'].map((path) => places.holds(path)),
    ).toEqual([true, true, false, false, false]);
    expect([...places.all]).toEqual(['/w/a']);
    places.delete('/w/a/');
    expect(places.isWritten({ kind: 'file', path: '/w', real: '/' })).toBe(false);
  });
});

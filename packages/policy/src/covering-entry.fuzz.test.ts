import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileCoveringHosts,
  compileCoveringPaths,
  coveringHostEntry,
  coveringPathEntry,
} from './covering-entry.js';
import { pattern, wildHost } from './fixtures/hosts-arbitraries.js';
import { path } from './fixtures/paths-arbitraries.js';
import { compileHostSet, meetHostLists } from './host-sets.js';
import { meetHosts, parseHostPattern } from './hosts.js';
import { compilePathSet, isWithin } from './paths.js';

const runs = { check: 100, long: 100_000 };
const hosts = fc.array(fc.oneof({ weight: 9, arbitrary: pattern }, wildHost), { maxLength: 6 });
const paths = fc.array(path, { maxLength: 6 });

describe('coveringHostEntry', () => {
  it.each([
    [['*', 'a.com'], 'a.com', 1],
    [['*.com', 'A.com.'], 'a.com', 1],
    [['*', '*.com'], 'a.com', 0],
    [['b.com'], 'a.com', undefined],
    [['a.com:8080'], 'a.com', undefined],
    [['a.com'], 'a.com:8080', 0],
    [['not a host', '*'], '*', 1],
    [['*'], 'not a host', undefined],
  ])('of %j for %s is %s', (entries, asked, index) => {
    expect(coveringHostEntry(entries, asked)).toBe(index);
  });

  fuzz(
    'finds an entry of both lists behind whatever the meet of two lists allows',
    fc.tuple(hosts, hosts),
    ([a, b]) => {
      for (const met of compileHostSet(meetHostLists(a, b)).patterns) {
        for (const list of [a, b]) {
          const index = coveringHostEntry(list, met);
          expect(index).toBeDefined();
          expect(meetHosts(list[index ?? -1] ?? '', met)).toBe(parseHostPattern(met)?.text);
        }
      }
    },
    { runs },
  );
});

describe('coveringPathEntry', () => {
  it.each([
    [['/a', '/a/b'], '/a/b/c', 1],
    [['/a/b', '/a'], '/a/b/c', 0],
    [['/a', '/a/'], '/a', 0],
    [['/ab'], '/a', undefined],
    [['a'], '/a', undefined],
  ])('of %j for %s is %s', (entries, asked, index) => {
    expect(coveringPathEntry(entries, asked)).toBe(index);
  });

  fuzz(
    'finds an entry exactly where a set of the entries covers a path',
    fc.tuple(paths, path),
    ([entries, asked]) => {
      const index = coveringPathEntry(entries, asked);
      expect(index !== undefined).toBe(compilePathSet(entries).covers(asked) !== undefined);
      if (index !== undefined) expect(isWithin(asked, entries[index] ?? '')).toBe(true);
    },
    { runs },
  );
});

describe('compileCoveringHosts', () => {
  fuzz(
    'finds the first entry that the meet with a pattern leaves whole',
    fc.tuple(hosts, fc.oneof({ weight: 9, arbitrary: pattern }, wildHost)),
    ([entries, asked]) => {
      const whole = meetHosts(asked, asked);
      const first = entries.findIndex((entry) => whole && meetHosts(entry, asked) === whole);
      expect(compileCoveringHosts(entries)(asked) ?? -1).toBe(first);
    },
    { runs },
  );
});

describe('compileCoveringPaths', () => {
  fuzz(
    'finds the first entry that a path is within',
    fc.tuple(paths, path),
    ([entries, asked]) => {
      const first = entries.findIndex((entry) => isWithin(asked, entry));
      expect(compileCoveringPaths(entries)(asked) ?? -1).toBe(first);
    },
    { runs },
  );
});

import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  host,
  hostWithPort,
  pattern,
  port,
  wildHost,
  withPort,
} from './fixtures/hosts-arbitraries.js';
import {
  compileHostCover,
  compileHostMeets,
  compileHostSet,
  compileNamedMachines,
  meetHostLists,
  resolveAllowedHosts,
} from './host-sets.js';
import { hostMatches, isIpLiteral, meetHosts, normalizeHost, parseHostPattern } from './hosts.js';

const runs = { check: 100, long: 100_000 };
const list = fc.array(fc.oneof({ weight: 9, arbitrary: pattern }, wildHost), { maxLength: 6 });
const covers = (list: readonly string[], target: string) =>
  list.some((entry) => hostMatches(entry, target));

describe('compileHostSet, whatever the list', () => {
  fuzz(
    'equals hostMatches over the list, and prefers a rule that names the port',
    fc.tuple(list, host, fc.option(port)),
    ([list, name, at]) => {
      const target = withPort([name, at]);
      const found = compileHostSet(list).matches(name, at ?? undefined);
      expect(found !== undefined).toBe(covers(list, target));
      if (found === undefined) return;
      expect(hostMatches(found, target)).toBe(true);
      const named = list.filter((rule) => parseHostPattern(rule)?.port === (at ?? undefined));
      if (at !== null && covers(named, target)) expect(parseHostPattern(found)?.port).toBe(at);
    },
    { runs },
  );

  fuzz('matches no text that is no host', fc.tuple(list, wildHost), ([list, text]) => {
    const found = compileHostSet([...list, '*']).matches(text, 443);
    expect(found !== undefined).toBe(normalizeHost(text) !== null);
  });
});

describe('compileHostMeets, whatever the list', () => {
  fuzz(
    'says whether a single entry meets the pattern',
    fc.tuple(list, fc.oneof({ weight: 9, arbitrary: pattern }, wildHost)),
    ([list, asked]) => {
      const isMet = list.some((entry) => meetHosts(entry, asked) !== null);
      expect(compileHostMeets(list)(asked)).toBe(isMet);
    },
    { runs },
  );
});

describe('compileHostCover, whatever the list', () => {
  fuzz(
    'covers what the meet with a single entry leaves as it is',
    fc.tuple(list, pattern),
    ([list, asked]) => {
      const whole = meetHosts(asked, asked);
      const isCovered = list.some((entry) => meetHosts(entry, asked) === whole);
      expect(compileHostCover(list)(asked)).toBe(isCovered);
    },
    { runs },
  );
});

describe('meetHostLists, whatever the lists', () => {
  fuzz('is commutative, idempotent and associative', fc.tuple(list, list, list), ([a, b, c]) => {
    const meet = meetHostLists(a, b);
    expect(meetHostLists(b, a)).toEqual(meet);
    expect(meetHostLists(meet, meet)).toEqual(meet);
    expect(meetHostLists(meet, c)).toEqual(meetHostLists(a, meetHostLists(b, c)));
  });

  fuzz(
    'covers a host exactly when both lists do, with no entry inside another',
    fc.tuple(list, list, hostWithPort),
    ([a, b, target]) => {
      const meet = meetHostLists(a, b);
      expect(covers(meet, target)).toBe(covers(a, target) && covers(b, target));
      for (const x of meet) expect(meet.filter((y) => meetHosts(x, y) === x)).toEqual([x]);
    },
    { runs },
  );
});

describe('resolveAllowedHosts, whatever is declared', () => {
  fuzz(
    'covers a host exactly when the declaration and the allow list do, and * only through the list',
    fc.tuple(list, fc.option(list, { nil: undefined }), hostWithPort),
    ([declared, allow, target]) => {
      const specific = declared.filter((rule) => parseHostPattern(rule)?.kind !== 'any');
      const expected = allow
        ? covers(declared, target) && covers(allow, target)
        : covers(specific, target);
      expect(covers(resolveAllowedHosts(declared, allow), target)).toBe(expected);
    },
    { runs },
  );
});

describe('compileNamedMachines, whatever the list', () => {
  fuzz(
    'covers addresses and localhost that are in the list, and nothing else',
    fc.tuple(list, host, port),
    ([list, name, at]) => {
      const named = compileNamedMachines([...list, 'localhost:443']);
      const exact = list.filter((rule) => parseHostPattern(rule)?.kind === 'exact');
      const expected = isIpLiteral(name) && covers(exact, withPort([name, at]));
      expect(named.matches(name, at) !== undefined).toBe(expected);
      expect(named.matches('localhost', at) !== undefined).toBe(
        at === 443 || covers(exact, withPort(['localhost', at])),
      );
    },
  );
});

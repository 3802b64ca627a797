import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { readCorpus } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  host,
  hostWithPort,
  pattern,
  port,
  spellingsOf,
  wildHost,
  withPort,
} from './fixtures/hosts-arbitraries.js';
import { hostMatches, isIpLiteral, meetHosts, normalizeHost, parseHostPattern } from './hosts.js';

const corpus = readCorpus<{ normalizeHost: string[] }>(
  new URL('./fixtures/corpus/hosts.json', import.meta.url),
);

function hostnameOf(host: string): string | undefined {
  try {
    return new URL(`http://${host}/`).hostname;
  } catch {
    return undefined;
  }
}

describe('normalizeHost, whatever the text', () => {
  fuzz(
    'is idempotent, and its answer is a plain host that the URL parser reads as itself',
    wildHost,
    (text) => {
      const once = normalizeHost(text);
      if (once === null) return;
      expect(once).toMatch(/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:]+)$/);
      expect(normalizeHost(once)).toBe(once);
      const bracketed = once.includes(':') ? `[${once}]` : once;
      expect(new URL(`http://${bracketed}/`).hostname).toBe(bracketed);
    },
    { corpus: corpus.normalizeHost },
  );

  fuzz(
    'reads what the URL parser reads, or nothing',
    wildHost,
    (text) => {
      const isAlone = text !== '' && !/[\0-\x20\x7f/\\?#@%:]/.test(text);
      const hostname = isAlone ? hostnameOf(text) : undefined;
      if (hostname === undefined) return;
      const name = hostname.replace(/\.$/, '');
      const isPlain = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) && name.length <= 253;
      expect(normalizeHost(text)).toBe(isPlain ? name : null);
    },
    { corpus: corpus.normalizeHost },
  );

  fuzz(
    'reads every spelling of a name as that name',
    host
      .filter((name) => !name.includes(':'))
      .chain((name) => fc.tuple(fc.constant(name), spellingsOf(name))),
    ([name, spelling]) => expect(normalizeHost(spelling)).toBe(name),
  );

  // The engine compiles code that runs often, and Node.js 20 then uses a faulty shortcut.
  it('reads a Latin-1 name the same the twenty thousandth time', () => {
    for (let time = 0; time < 20_000; time += 1) {
      if (normalizeHost('b\u00fccher.de') !== 'xn--bcher-kva.de') expect.fail(`time ${time}`);
      if (normalizeHost('\u00c3\u0085') !== null) expect.fail(`time ${time}`);
    }
  });

  fuzz('takes for an address what the URL parser takes for one', fc.ipV4Extended(), (text) => {
    const name = normalizeHost(text);
    expect(name).toBe(new URL(`http://${text}/`).hostname);
    expect(isIpLiteral(name ?? '')).toBe(true);
  });

  // IDNA takes quadratic time for many different letters, and for marks that have to be sorted.
  const HOSTILE: Record<string, (size: number) => string> = {
    'a label of different ideographs': (size) =>
      Array.from({ length: size }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join(
        '',
      ),
    'marks out of order': (size) => `a${'\u0301\u0323'.repeat(size / 2)}`,
    'soft hyphens': (size) => `a${'\u00ad'.repeat(size)}.com`,
    dots: (size) => '.'.repeat(size),
    labels: (size) => 'a.'.repeat(size / 2),
    'labels of punycode': (size) => 'xn--bcher-kva.'.repeat(size / 14),
    'one label of punycode': (size) => `xn--${'bcher'.repeat(size / 5)}-kva`,
    colons: (size) => ':'.repeat(size),
    digits: (size) => '1'.repeat(size),
    'a port': (size) => `a:${'1'.repeat(size)}`,
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (text) => [
      normalizeHost(text),
      parseHostPattern(text),
      parseHostPattern(`*.${text}`),
    ]);
  }
});

describe('parseHostPattern, whatever the text', () => {
  fuzz('reads its own spelling back', fc.oneof(pattern, wildHost), (text) => {
    const once = parseHostPattern(text);
    if (once !== null) expect(parseHostPattern(once.text)).toEqual(once);
  });

  fuzz(
    'has a wildcard only where one is written whole and first',
    fc.tuple(fc.constantFrom('', '*', '*.', '.', '**.'), wildHost).map((parts) => parts.join('')),
    (text) => {
      const parsed = parseHostPattern(text);
      if (parsed === null) return;
      expect(parsed.kind === 'any').toBe(/^\*(?::\d+)?$/.test(text));
      expect(parsed.kind === 'suffix').toBe(text.startsWith('*.'));
      expect(parsed.host).toBe(parsed.kind === 'any' ? '' : normalizeHost(parsed.host));
    },
  );
});

interface Shape {
  kind: 'exact' | 'suffix' | 'any';
  labels: string[];
  port: number | null;
}

const labels = fc.array(fc.constantFrom('a', 'b', 'aa', 'com'), { minLength: 1, maxLength: 4 });
const shape: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom('exact', 'suffix', 'any'),
  labels,
  port: fc.option(port, { freq: 2 }),
});
const spell = ({ kind, labels, port }: Shape) =>
  withPort([kind === 'any' ? '*' : `${kind === 'suffix' ? '*.' : ''}${labels.join('.')}`, port]);

/** The meaning of a pattern, label by label. */
function covers(rule: Shape, labels: readonly string[], at: number | null): boolean {
  if (rule.port !== null && rule.port !== at) return false;
  if (rule.kind === 'any') return true;
  const extra = labels.length - rule.labels.length;
  const ends = rule.labels.every((label, index) => label === labels[extra + index]);
  return ends && (rule.kind === 'exact' ? extra === 0 : extra > 0);
}

describe('hostMatches, whatever the host', () => {
  fuzz(
    'says what comparing label by label says, however the host is spelled',
    fc.tuple(shape, labels, fc.option(port)).chain(([rule, labels, at]) =>
      fc.record({
        rule: fc.constant(rule),
        labels: fc.constant(labels),
        at: fc.constant(at),
        spelling: spellingsOf(labels.join('.')),
      }),
    ),
    ({ rule, labels, at, spelling }) => {
      const target = withPort([spelling, at]);
      expect(hostMatches(spell(rule), target)).toBe(covers(rule, labels, at));
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'never throws, and covers nothing that is no host',
    fc.tuple(fc.oneof(pattern, wildHost), wildHost),
    ([rule, text]) => {
      if (hostMatches(rule, text)) expect(parseHostPattern(text)?.kind).toBe('exact');
    },
  );
});

describe('meetHosts, whatever the patterns', () => {
  const meet = (a: string | null, b: string | null) =>
    a === null || b === null ? null : meetHosts(a, b);

  fuzz(
    'is commutative, idempotent and associative',
    fc.tuple(pattern, pattern, pattern),
    ([a, b, c]) => {
      expect(meet(a, b)).toBe(meet(b, a));
      expect(meet(a, a)).toBe(parseHostPattern(a)?.text);
      expect(meet(meet(a, b), c)).toBe(meet(a, meet(b, c)));
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'covers a host exactly when both patterns do',
    fc.tuple(pattern, pattern, hostWithPort),
    ([a, b, target]) => {
      const met = meetHosts(a, b);
      const covered = met !== null && hostMatches(met, target);
      expect(covered).toBe(hostMatches(a, target) && hostMatches(b, target));
    },
    { runs: { check: 120, long: 100_000 } },
  );

  fuzz(
    'never throws, and is nothing with what does not parse',
    fc.tuple(wildHost, pattern),
    ([a, b]) => {
      if (parseHostPattern(a) === null) expect(meetHosts(a, b)).toBeNull();
      expect(meetHosts(a, b)).toBe(meetHosts(b, a));
    },
  );
});

import { isIPv4 } from 'node:net';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyUrl, readCorpus } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { NetworkRules } from './network-rules.js';

const corpus = readCorpus<{ judgeUrl: string[][] }>(
  new URL('./fixtures/corpus/network-rules.json', import.meta.url),
);
const names = [
  'evil.com',
  'a.evil.com',
  'b.a.evil.com',
  'notevil.com',
  'evil.com.good.org',
  'good.org',
];
const name = fc.constantFrom(...names);
const address = fc.constantFrom('8.8.8.8', '93.184.215.14', '10.1.2.3', '127.0.0.1');

/** Spellings of a name in a URL that the URL parser reads as that name. */
const nameSpellings: Array<(name: string) => string> = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => `${name}.`,
  (name) => name.replaceAll('.', '\u3002'),
  (name) => name.replace('e', '%65').replace('o', '%6F'),
  (name) => name.replace('e', '\uff25'),
  (name) => `\u00ad${name}`,
  (name) => `good.org@${name}`,
  (name) => `good.org:80@${name}:443`,
  (name) => `\\${name}`,
  (name) => name.replace('i', '\t').replace('v', 'v\ni').replace('\ti', 'i'),
  (name) => `\n${name}\\@good.org`,
  (name) => `${name}?@good.org`,
  (name) => `${name}#@good.org`,
  (name) => `${name}:080`,
];
const byte = (ipv4: string, at: number) => Number(ipv4.split('.')[at]);
const number = (ipv4: string) => ipv4.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const pair = (ipv4: string, at: number) => (byte(ipv4, at) * 256 + byte(ipv4, at + 1)).toString(16);
/** Spellings of an address in a URL. */
const addressSpellings: Array<(ipv4: string) => string> = [
  (ipv4) => ipv4,
  (ipv4) => `${ipv4}.`,
  (ipv4) => `${number(ipv4)}`,
  (ipv4) => `0x${number(ipv4).toString(16)}`,
  (ipv4) => `0${number(ipv4).toString(8)}`,
  (ipv4) => `${byte(ipv4, 0)}.${number(ipv4) % 2 ** 24}`,
  (ipv4) =>
    ipv4
      .split('.')
      .map((part) => `0${Number(part).toString(8)}`)
      .join('.'),
  (ipv4) => ipv4.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  (ipv4) => ipv4.replaceAll('.', '\uff0e'),
  (ipv4) => ipv4.replaceAll('.', '%2e'),
  (ipv4) => `[::ffff:${ipv4}]`,
  (ipv4) => `[::ffff:${pair(ipv4, 0)}:${pair(ipv4, 2)}]`,
  (ipv4) => `[0:0:0:0:0:FFFF:${ipv4}]:8080`,
  (ipv4) => `[64:ff9b::${pair(ipv4, 0)}:${pair(ipv4, 2)}]`,
];
const scheme = fc.constantFrom('http:', 'https:', 'HTTP:', ' http:', 'ht\ntp:');
const slashes = fc.constantFrom('//', '\\\\', '/\\', '', '///', '//\t');

function urlFrom(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const reached = fc.oneof(
  fc.record({ target: name, spell: fc.constantFrom(...nameSpellings) }),
  fc.record({ target: address, spell: fc.constantFrom(...addressSpellings) }),
);
const spelled = fc.tuple(scheme, slashes, reached).map(([scheme, slashes, { target, spell }]) => ({
  target,
  url: `${scheme}${slashes}${spell(target)}/x`,
}));

describe('NetworkRules.judgeUrl, whatever the spelling', () => {
  fuzz(
    'never lets a denied host through, and lets every other allowed one',
    fc.tuple(spelled, fc.uniqueArray(fc.oneof(name, address), { maxLength: 3 })),
    ([{ target, url }, deny]) => {
      const parsed = urlFrom(url);
      if (parsed === undefined) return;
      const rules = new NetworkRules(['*'], { allow: ['*'], deny, allow_private_urls: true });
      const isPlain = parsed.username === '';
      expect(rules.judgeUrl(parsed).decision).toBe(
        deny.includes(target) || !isPlain ? 'denied' : 'allowed',
      );
    },
    { promised: 'network', runs: { check: 120, long: 100_000 } },
  );

  fuzz(
    'denies an address by whatever spelling of it the rule has',
    fc.tuple(address, fc.constantFrom(...addressSpellings), fc.constantFrom(...addressSpellings)),
    ([target, rule, spell]) => {
      const deny = [new URL(`http://${rule(target)}/`).hostname];
      const rules = new NetworkRules(['*'], { allow: ['*'], deny, allow_private_urls: true });
      expect(rules.judgeUrl(new URL(`http://${spell(target)}/`)).decision).toBe('denied');
      // Also behind a name.
      expect(rules.judgeAddresses('a.example', 80, ['1.1.1.1', target])?.decision).toBe('denied');
      expect(rules.judgeAddresses('a.example', 80, ['1.1.1.1'])).toBeUndefined();
    },
    { promised: 'network' },
  );

  fuzz(
    'lets no private address through without the operator, in any spelling',
    spelled,
    ({ target, url }) => {
      const parsed = urlFrom(url);
      if (parsed === undefined || parsed.username !== '') return;
      const isPublic = !isIPv4(target) || !/^(?:10|127)\./.test(target);
      const { decision } = new NetworkRules(['*'], { allow: ['*'] }).judgeUrl(parsed);
      expect(decision).toBe(isPublic ? 'allowed' : 'denied');
    },
    { promised: 'network' },
  );

  const wildUrl = fc.oneof(
    spelled.map(({ url }) => url),
    fc
      .tuple(
        fc.constantFrom(
          'blob:',
          'data:',
          'file:',
          'ws:',
          'ftp:',
          'javascript:',
          'view-source:',
          'filesystem:',
        ),
        spelled,
      )
      .map(([scheme, { url }]) => scheme + url.trim()),
    anyUrl(),
  );
  fuzz(
    'says of a URL the same whatever was asked before',
    fc.array(wildUrl, { minLength: 2, maxLength: 6 }),
    (texts) => {
      const policy = { allow: ['*'], deny: ['evil.com'] };
      const kept = new NetworkRules(['*'], policy);
      for (const text of texts) {
        const url = urlFrom(text);
        if (url === undefined) continue;
        const verdict = kept.judgeUrl(url);
        expect(verdict).toEqual(new NetworkRules(['*'], policy).judgeUrl(url));
        if (!/^https?:$/.test(url.protocol)) expect(verdict.rule).toBe('scheme');
      }
    },
    {
      promised: 'network',
      corpus: corpus.judgeUrl,
    },
  );
});

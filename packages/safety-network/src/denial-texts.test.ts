import type { NetworkPolicy } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { NetworkRules } from './network-rules.js';

type Row = [
  what: string,
  url: string,
  hosts: { declared: string[]; allowed: string[]; policy?: NetworkPolicy },
  rule: string,
  said: string,
];

const open = { declared: ['*'], allowed: ['*'], policy: { allow: ['*'] } };

describe('a denial of a URL says which rule it was, and what can be done', () => {
  it.each<Row>([
    [
      'a host that the tool did not declare',
      'https://api.stripe.com/',
      { declared: ['api.github.com'], allowed: ['api.github.com'] },
      'not in the host set',
      'api.stripe.com is not in the declared allowedHosts',
    ],
    [
      'a port that the tool did not declare',
      'https://api.stripe.com:8443/',
      { declared: ['api.stripe.com:443'], allowed: ['api.stripe.com:443'] },
      'not in the host set',
      'api.stripe.com is not in the declared allowedHosts with port 8443',
    ],
    [
      'a declared host that the personality does not allow',
      'https://api.stripe.com/',
      { declared: ['*.stripe.com'], allowed: [], policy: { allow: ['api.github.com'] } },
      'not in the allow list',
      "api.stripe.com is declared by the tool, as *.stripe.com, but is not in the personality's safety.network.allow; the operator can add it there",
    ],
    [
      '* under a personality without a list',
      'https://api.stripe.com/',
      { declared: ['*'], allowed: [], policy: {} },
      'not in the allow list',
      'api.stripe.com is not allowed: the tool may reach what safety.network.allow of the personality lists, and there is no such list; the operator can add it, with this host',
    ],
    [
      'a host on the deny list',
      'https://api.evil.com/',
      { ...open, policy: { allow: ['*'], deny: ['*.evil.com'] } },
      'deny list: *.evil.com',
      'api.evil.com is on the deny list, as *.evil.com; the operator can take it off safety.network.deny',
    ],
    [
      'a metadata service',
      'http://169.254.169.254/',
      open,
      'metadata service',
      '169.254.169.254 is a metadata service, which no rule opens; use another host',
    ],
    [
      'a private address',
      'http://10.0.0.1/',
      open,
      'address floor: private',
      '10.0.0.1 leads to an address that is private; the operator can name 10.0.0.1 in safety.network.allow, or set safety.network.allow_private_urls',
    ],
    [
      'a name of this machine',
      'http://a.localhost/',
      open,
      'address floor: loopback',
      'a.localhost leads to an address that is loopback; the operator can set safety.network.allow_private_urls',
    ],
    ['a scheme', 'ftp://example.com/', open, 'scheme', 'ftp: is not allowed; use http: or https:'],
    [
      'a port of a service',
      'http://example.com:6379/',
      open,
      'port',
      'port 6379 of example.com belongs to an internal service, such as a database; the operator can allow it as example.com:6379 in safety.network.allow',
    ],
    [
      'a port of another protocol',
      'http://example.com:25/',
      open,
      'port',
      'port 25 of example.com belongs to another protocol than HTTP, and no rule opens it; use another port',
    ],
    [
      'a user name',
      'https://me:pw@example.com/',
      open,
      'userinfo',
      'the URL of example.com has a user name or password; use a header',
    ],
  ])('%s', (_what, url, { declared, allowed, policy }, rule, detail) => {
    const rules = new NetworkRules(allowed, policy, declared);
    expect(rules.judgeUrl(new URL(url))).toMatchObject({ decision: 'denied', rule, detail });
  });

  it.each([
    ['private', '10.0.0.1', /; the operator can set safety\.network\.allow_private_urls$/],
    ['metadata', '169.254.169.254', /; no rule opens it$/],
  ])('a name that leads to a %s address', (_kind, address, said) => {
    const rules = new NetworkRules(['*'], { allow: ['*'] }, ['*']);
    const denial = rules.judgeAddresses('example.com', 443, [address]);
    expect(denial?.detail).toMatch(/^example\.com leads to an address that is /);
    expect(denial?.detail).toMatch(said);
    expect(denial?.detail).not.toContain(address);
  });

  it('does what it says: with each remedy, the access is allowed', () => {
    const judge = (url: string, allow: string[], more: NetworkPolicy = {}) =>
      new NetworkRules(['*'], { allow, ...more }, ['*']).judgeUrl(new URL(url)).decision;
    expect(judge('http://10.0.0.1/', ['10.0.0.1'])).toBe('allowed');
    expect(judge('http://10.0.0.1/', ['*'], { allow_private_urls: true })).toBe('allowed');
    expect(judge('http://a.localhost/', ['*'], { allow_private_urls: true })).toBe('allowed');
    expect(judge('http://example.com:6379/', ['example.com:6379'])).toBe('allowed');
    expect(judge('https://api.stripe.com/', ['api.stripe.com'])).toBe('allowed');
  });
});

import { describe, expect, it } from 'vitest';
import { parseHostPattern } from './hosts.js';
import { networkConsents, whyNeverOpen } from './network-consents.js';

describe('networkConsents', () => {
  it('lists what an allow list opens by naming it, and not what no rule opens', () => {
    const allow = ['10.0.0.1', '169.254.169.254', '10.0.0.2:22', 'a.com:6379', 'a.com:22', 'a.com'];
    expect(networkConsents(['*'], { allow })).toEqual({
      privateHosts: ['10.0.0.1'],
      servicePorts: ['a.com:6379'],
    });
    expect(networkConsents(['10.0.0.1:22', '10.0.0.1:80'], { allow }).privateHosts).toEqual([
      '10.0.0.1:80',
    ]);
  });
});

describe('whyNeverOpen', () => {
  it.each([
    ['169.254.169.254', 'metadata service'],
    ['metadata.google.internal:80', 'metadata service'],
    ['*:22', 'port 22 belongs to another protocol'],
    ['*.metadata.google.internal', undefined],
    ['10.0.0.1:6379', undefined],
    ['*', undefined],
  ])('of %s is %s', (text, expected) => {
    const pattern = parseHostPattern(text);
    const why = pattern === null ? 'no pattern' : whyNeverOpen(pattern);
    if (expected === undefined) expect(why).toBeUndefined();
    else expect(why).toContain(expected);
  });
});

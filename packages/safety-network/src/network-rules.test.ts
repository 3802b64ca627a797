import { CapabilityError } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createNetworkGuard, type NetworkGuardOptions } from './network-guard.js';

/** The error with which a guard denies a URL; `undefined` if it allows it. */
function errorOf(options: NetworkGuardOptions, url: string): CapabilityError | undefined {
  try {
    createNetworkGuard(options).assertUrl(url);
    return undefined;
  } catch (error) {
    if (!(error instanceof CapabilityError)) throw error;
    return error;
  }
}

function denialOf(options: NetworkGuardOptions, url: string): string | undefined {
  return errorOf(options, url)?.rule;
}

describe('NetworkGuard.assertUrl', () => {
  const any = { allowedHosts: ['*'] };

  it('denies a host that the operator does not list, though the tool declares it', () => {
    const options = { ...any, policy: { allow: ['*.example.com'] } };
    expect(denialOf(options, 'https://api.example.com/')).toBe(undefined);
    expect(denialOf(options, 'https://example.org/')).toBe('not in the allow list');
  });

  it('denies a host outside those of one call, though all lists have it', () => {
    const options = { ...any, policy: { allow: ['*'] }, withinHosts: ['*.example.com'] };
    expect(denialOf(options, 'https://api.example.com/')).toBe(undefined);
    expect(denialOf(options, 'https://example.org/')).toBe('not in the hosts of this call');
    expect(denialOf({ ...options, withinHosts: [] }, 'https://example.org/')).toBe(
      'not in the hosts of this call',
    );
  });

  it.each([
    'https://user@example.com/',
    'https://:word@example.com/',
    'https://user:word@example.com/',
  ])('denies %s for what stands before the host', (url) => {
    expect(denialOf(any, url)).toBe('userinfo');
    expect(denialOf(any, 'https://example.com/')).toBe(undefined);
  });

  it('names the rule of the host first, for a URL with a user name', () => {
    const options = { ...any, policy: { deny: ['evil.test'] } };
    expect(denialOf(options, 'https://user@evil.test/')).toBe('deny list: evil.test');
  });

  it('says that the port is why, only where the host is declared with another one', () => {
    const options = { allowedHosts: ['a.test:8080', '*.b.test:8080', 'c.test'] };
    const textOf = (url: string) => errorOf(options, url)?.message;
    expect(textOf('http://a.test:8081/')).toContain('allowedHosts with port 8081');
    expect(textOf('http://x.b.test/')).toContain('allowedHosts with port 80');
    expect(textOf('http://d.test/')).toMatch(/d\.test is not in the declared allowedHosts$/);
  });
});

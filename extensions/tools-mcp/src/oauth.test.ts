import { errorCodeOf } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { StoredOAuth } from './oauth.js';

/** Whether an authorization server may be where it is, all its endpoints beside it. */
async function verdict(
  hosts: readonly string[],
  issuer: string,
  url = 'https://mcp.test/',
): Promise<string | undefined> {
  const kept = new Map<string, string>();
  const oauth = new StoredOAuth({
    store: {
      get: async (key) => kept.get(key) ?? null,
      set: async (key, value) => void kept.set(key, value),
      delete: async (key) => void kept.delete(key),
    },
    server: 's',
    personality: 'p',
    url,
    redirectUrl: 'http://127.0.0.1/',
    hosts,
    authorize: () => {},
  });
  try {
    await oauth.saveDiscoveryState({
      authorizationServerUrl: issuer,
      authorizationServerMetadata: {
        issuer,
        authorization_endpoint: `${issuer}authorize`,
        token_endpoint: `${issuer}token`,
        response_types_supported: ['code'],
      },
    });
    return 'taken';
  } catch (error) {
    return errorCodeOf(error);
  }
}

describe('an authorization server', () => {
  it.each<[issuer: string, hosts: string[]]>([
    ['https://login.test/', ['Login.Test']],
    ['https://login.test/', ['login.test.']],
    ['https://login.test/', ['other.test', 'login.test']],
    ['https://login.test/', ['login.test:443']],
    ['https://login.test:8443/', ['login.test']],
    ['https://login.test:8443/', ['login.test:8443']],
    ['https://me.okta.test/', ['*.okta.test']],
    ['https://a.me.okta.test:8443/', ['*.OKTA.test:8443']],
    ['https://login.test/', ['*']],
    ['https://bücher.test/', ['bücher.test']],
    ['https://10.1.2.3/', ['10.1.2.3']],
    ['http://[::1]:9/', ['[::1]']],
    ['http://[::1]:9/', ['::1']],
    ['http://[::1]:9/', ['[::1]:9']],
    ['http://127.0.0.1:9/', ['127.0.0.1:9']],
    ['http://localhost/', ['localhost']],
    ['http://a.localhost/', ['*.localhost']],
  ])('at %s is taken where the hosts are %j', async (issuer, hosts) => {
    expect(await verdict(hosts, issuer)).toBe('taken');
  });

  it.each<[issuer: string, hosts: string[]]>([
    ['https://evil.test/', ['login.test']],
    ['https://login.test.evil.test/', ['login.test']],
    ['https://evillogin.test/', ['*.login.test']],
    ['https://okta.test/', ['*.okta.test']],
    ['https://login.test:8443/', ['login.test:9443']],
    ['https://login.test:8443/', ['login.test:443']],
    ['https://login.test/', ['login.test:80']],
    ['https://login.test/', ['login.test:0443']],
    ['https://login.test/', ['login.test:+443']],
    ['https://login.test/', ['https://login.test']],
    ['https://login.test/', ['login.test/']],
    ['https://login.test/', ['login.test:']],
    ['https://evil.test/', ['login.test@evil.test']],
    ['https://login.test/', ['']],
    ['https://login.test/', ['*login.test']],
    ['https://[::2]/', ['::1']],
    ['http://login.test/', ['login.test']],
    ['http://login.test/', ['*']],
    ['https://evil.test/', []],
    ['http://mcp.test/', []],
    ['http://10.1.2.3/', ['10.1.2.3']],
    ['http://127.0.0.1.evil.test/', ['*']],
    ['http://localhost.evil.test/', ['*']],
    ['ftp://login.test/', ['login.test']],
  ])('at %s is refused where the hosts are %j', async (issuer, hosts) => {
    expect(await verdict(hosts, issuer)).toBe('HOST_NOT_ALLOWED');
  });

  it.each([
    ['https://mcp.test:8443/', 'https://mcp.test/mcp'],
    ['http://127.0.0.1:9/', 'http://127.0.0.1:8/mcp'],
  ])('at %s is taken for %s without hosts', async (issuer, url) => {
    expect(await verdict([], issuer, url)).toBe('taken');
  });
});

describe('an authorization', () => {
  const oauthOf = (
    kept: Map<string, string>,
    personality: string,
    authorize: (url: string) => void = () => {},
  ) =>
    new StoredOAuth({
      store: {
        get: async (key) => kept.get(key) ?? null,
        set: async (key, value) => void kept.set(key, value),
        delete: async (key) => void kept.delete(key),
      },
      server: 's',
      personality,
      url: 'https://mcp.test/',
      redirectUrl: 'http://127.0.0.1/',
      hosts: [],
      authorize,
    });

  it('sends the user only to the authorization server that was checked', async () => {
    const kept = new Map<string, string>();
    const asked: string[] = [];
    const authorize = (url: string) => void asked.push(url);
    const early = oauthOf(kept, 'a', authorize);
    const refused = { code: 'HOST_NOT_ALLOWED' };
    const own = new URL('https://mcp.test/authorize');
    await expect(early.redirectToAuthorization(own)).rejects.toMatchObject(refused);
    await early.saveDiscoveryState({ authorizationServerUrl: 'https://mcp.test/' });
    // The one of the next start has read where that is.
    const later = oauthOf(kept, 'a', authorize);
    await later.discoveryState();
    const evil = new URL('https://evil.test/authorize');
    for (const oauth of [early, later]) {
      await expect(oauth.redirectToAuthorization(evil)).rejects.toMatchObject(refused);
    }
    expect(asked).toEqual([]);
    await later.redirectToAuthorization(own);
    expect(asked).toEqual([own.href]);
  });

  it('has a state that is taken when it is the one that was sent, and no other', async () => {
    const kept = new Map<string, string>();
    const oauth = oauthOf(kept, 'a');
    const refused = { code: 'CONFIG_INVALID' };
    await expect(oauth.assertState('')).rejects.toMatchObject(refused);
    const state = await oauth.state();
    await oauth.assertState(state);
    const forged = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
    for (const other of ['', 'forged', forged, `${state}A`]) {
      await expect(oauth.assertState(other)).rejects.toMatchObject(refused);
    }
    await expect(oauthOf(kept, 'b').assertState(state)).rejects.toMatchObject(refused);
  });

  it('has tokens of one personality', async () => {
    const kept = new Map<string, string>();
    const tokens = { access_token: 'a-token', token_type: 'Bearer' };
    await oauthOf(kept, 'a').saveTokens(tokens);
    expect(await oauthOf(kept, 'a').tokens()).toMatchObject(tokens);
    expect(await oauthOf(kept, 'b').tokens()).toBeUndefined();
  });
});

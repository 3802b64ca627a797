import { createInMemoryKvStore } from '@ethosagent/core';
import { Turns } from '@ethosagent/policy';
import { EthosError, errorCodeOf, type ScopedFetch } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { type DownloadOptions, download } from './download.js';
import { HttpCache } from './http-cache.js';

const get = (fetch: ScopedFetch['fetch'], more: Partial<DownloadOptions> = {}) =>
  download(new URL('https://a.test/0'), {
    fetch: { fetch },
    turns: new Turns(),
    headers: {},
    signal: new AbortController().signal,
    maxBytes: 1_000,
    fresh: false,
    sessionId: 's',
    ...more,
  });

describe('download', () => {
  it.each([
    [5, 'https://a.test/5'],
    [6, 'TOO_MANY_REDIRECTS'],
  ])('follows up to five redirects: %i', async (redirects, end) => {
    let asked = 0;
    const fetch = async () =>
      asked++ < redirects
        ? new Response(null, { status: 302, headers: { location: `/${asked}` } })
        : new Response('here');
    const answer = get(fetch).then(({ url }) => url, errorCodeOf);
    expect(await answer).toBe(end);
    expect(asked).toBe(6);
  });

  it.each([
    ['AUDIT_FAILED', 'AUDIT_FAILED'],
    ['CALL_ENDED', 'CALL_ENDED'],
    ['STORE_UNAVAILABLE', undefined],
  ] as const)('goes on without a cache that fails with %s, or fails with it', async (code, end) => {
    const fail = () => Promise.reject(new EthosError(code, 'no'));
    const kv = createInMemoryKvStore().kvStoreFactory('t', 's');
    for (const method of ['list', 'set'] as const) {
      const cache = new HttpCache({ ...kv, [method]: fail }, 'n');
      const headers = { 'cache-control': 'max-age=60', date: new Date().toUTCString() };
      const answer = get(async () => new Response('here', { headers }), { cache });
      expect(await answer.then(() => undefined, errorCodeOf)).toBe(end);
    }
  });
});

import { fetch as undiciFetch } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { isNodeFetch } from './node-fetch.js';

describe('isNodeFetch', () => {
  it('knows the fetch of Node', () => {
    expect(isNodeFetch(globalThis.fetch)).toBe(true);
  });

  it.each([
    ['a wrapper', (url: string | URL | Request, init?: RequestInit) => globalThis.fetch(url, init)],
    ['a bound function', globalThis.fetch.bind(globalThis)],
    ['a proxy', new Proxy(globalThis.fetch, {})],
    ['a mock', vi.fn<typeof globalThis.fetch>()],
    ['the fetch of the undici package', undiciFetch],
  ])('is not taken in by %s', (_, fetch) => {
    expect(isNodeFetch(fetch as typeof globalThis.fetch)).toBe(false);
  });
});

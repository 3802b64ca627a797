import { afterAll } from 'vitest';
import { NetworkGuard } from './network-guard.js';

// The tests of what must hold for every request, again for requests that pass through `fetch`.

const { fetch } = NetworkGuard.prototype;
NetworkGuard.prototype.fetch = function throughFetch(url, init, options) {
  return fetch.call(this, url, { ...init, referrer: '' }, options);
};
afterAll(() => {
  NetworkGuard.prototype.fetch = fetch;
});

await import('./abort.test.js');
await import('./idle.test.js');
await import('./limits.test.js');
await import('./redirects.test.js');
await import('./spending.test.js');

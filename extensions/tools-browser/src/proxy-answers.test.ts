import { describe, expect, it } from 'vitest';
import { isOfProxy } from './browser-navigate.js';

describe('isOfProxy', () => {
  it.each([
    ['over http', true, 'http://a.test/', 'm', false],
    ['in a tunnel, which the proxy does not read', false, 'https://a.test/', 'm', false],
    ['from a worker of the page', false, 'http://localhost/', 'm', true],
    ['with another mark', false, 'http://a.test/', 'x', false],
    ['without one', false, 'http://a.test/', undefined, false],
  ])('says of an answer %s: %s', (_name, expected, url, mark, isWorkers) => {
    const response = {
      url: () => url,
      headers: () => (mark === undefined ? {} : { 'x-ethos-proxy': mark }),
      fromServiceWorker: () => isWorkers,
    };
    expect(isOfProxy(response, 'm')).toBe(expected);
  });
});

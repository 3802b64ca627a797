import { expect, it } from 'vitest';
import { callListener } from './call-listener.js';

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

it.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('x');
    },
  ],
  ['rejects', () => Promise.reject(new Error('x'))],
  [
    'returns a thenable that rejects',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
      then: (_: unknown, reject: (error: Error) => void) => reject(new Error('x')),
    }),
  ],
  [
    'returns a thenable that throws',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
      get then() {
        throw new Error('x');
      },
    }),
  ],
  ['returns what can not be read', revoked],
  ['is there no more', () => undefined],
])('callListener goes on where the listener %s', async (_, listener) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    expect(callListener(listener)).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

import { describe, expect, it } from 'vitest';
import { once } from './once.js';

describe('once', () => {
  it('makes a value at the first use, and keeps it', () => {
    let made = 0;
    const value = once(() => {
      made += 1;
      return undefined;
    });
    expect(made).toBe(0);
    expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
  });
});

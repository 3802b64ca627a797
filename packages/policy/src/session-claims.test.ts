import { describe, expect, it } from 'vitest';
import { assertLease } from './session-claims.js';

describe('assertLease', () => {
  it('takes a lease of up to a day, after which a session whose owner is gone is free', () => {
    for (const leaseMs of [1, 86_400_000]) expect(assertLease(leaseMs)).toBe(leaseMs);
    for (const leaseMs of [0, -1, 0.5, 86_400_001, Number.NaN]) {
      expect(() => assertLease(leaseMs)).toThrow('VALUE_INVALID');
    }
    expect.assertions(7);
  });
});

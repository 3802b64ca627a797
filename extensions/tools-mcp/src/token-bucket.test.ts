import { expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.js';

it('answers to what was asked are not slowed, and whoever sends more is', () => {
  const bucket = new TokenBucket(10, 100, () => 0);
  let waitMs = 0;
  for (let asked = 0; asked < 1_000; asked++) {
    bucket.give(1);
    waitMs += bucket.take(1);
  }
  expect(waitMs).toBe(0);
  // Two messages for each request use the burst up, and are then slowed.
  for (let asked = 0; asked < 200; asked++) {
    bucket.give(1);
    waitMs = bucket.take(1) + bucket.take(1);
  }
  expect(waitMs).toBeGreaterThan(0);
});

it('requests alone save nothing up beyond a burst', () => {
  const bucket = new TokenBucket(10, 100, () => 0);
  for (let asked = 0; asked < 1_000; asked++) bucket.give(1);
  expect(bucket.take(100)).toBe(0);
  expect(bucket.take(1)).toBe(100);
});

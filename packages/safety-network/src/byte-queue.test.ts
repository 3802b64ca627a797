import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteQueue } from './byte-queue.js';

const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 140_000 }));
/** Adds so many bytes, or takes some. */
const move = fc.oneof(size, fc.constantFrom('shift', 'all'));

describe('ByteQueue', () => {
  fuzz(
    'gives the bytes that it got, in their order',
    fc.array(move, { maxLength: 60 }),
    async (moves) => {
      const queue = new ByteQueue();
      const [given, taken]: [Uint8Array[], Uint8Array[]] = [[], []];
      const take = (bytes: Uint8Array | undefined) => void (bytes && taken.push(bytes));
      let next = 0;
      for (const each of moves) {
        if (each === 'shift') take(queue.shift());
        else if (each === 'all') take(queue.takeAll());
        else {
          const chunk = new Uint8Array(each).map(() => next++);
          queue.push(chunk);
          given.push(chunk.slice());
        }
        const waiting = Buffer.concat(given).length - Buffer.concat(taken).length;
        expect(queue.bytes).toBe(waiting);
      }
      take(queue.takeAll());
      expect(Buffer.concat(taken).equals(Buffer.concat(given))).toBe(true);
      expect(queue.shift()).toBeUndefined();
    },
    { promised: 'network', runs: { check: 100, long: 5_000 } },
  );

  it('never writes into the bytes that it was given', () => {
    const queue = new ByteQueue();
    const whole = new Uint8Array([1, 2, 3, 4]);
    queue.push(whole.subarray(0, 1));
    queue.push(new Uint8Array([9]));
    expect([...whole]).toEqual([1, 2, 3, 4]);
    expect([...queue.takeAll()]).toEqual([1, 9]);
  });

  it('joins a million single bytes to few blocks', () => {
    const queue = new ByteQueue();
    for (let at = 0; at < 1_000_000; at += 1) queue.push(new Uint8Array([at]));
    let blocks = 0;
    while (queue.shift()) blocks += 1;
    expect(blocks).toBeLessThan(32);
  });
});

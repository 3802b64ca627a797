import { describe, expect, it } from 'vitest';
import { SessionReads } from './session-reads.js';

describe('SessionReads', () => {
  it('keeps what a session has read until it is forgotten', () => {
    const reads = new SessionReads();
    expect(reads.of('a')).toBe(reads.of('a'));
    const before = reads.of('a');
    reads.forget('a');
    expect(reads.of('a')).not.toBe(before);
  });

  it('forgets the session that was quiet longest', () => {
    const reads = new SessionReads();
    const [first, second] = [reads.of('first'), reads.of('second')];
    for (let index = 0; index < 254; index++) reads.of(`s${index}`);
    expect(reads.of('first')).toBe(first);
    reads.of('one more');
    expect(reads.of('first')).toBe(first);
    expect(reads.of('second')).not.toBe(second);
  });
});

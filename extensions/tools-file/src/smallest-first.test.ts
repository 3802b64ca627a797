import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smallestFirst } from './smallest-first.js';

describe('smallestFirst', () => {
  it('gives what sorting gives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 3 })),
        fc.integer({ min: 1, max: 20 }),
        (texts, likely) => {
          expect([...smallestFirst(texts, likely)]).toEqual([...texts].sort());
        },
      ),
    );
  });
});

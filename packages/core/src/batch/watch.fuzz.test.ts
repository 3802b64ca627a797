import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { Watch, type Watched } from './watch.js';

/** What happens to the things that are watched, by their numbers. */
const change = fc.record({
  number: fc.nat(7),
  isAdded: fc.boolean(),
  /** Its deadline has come when the watch is set up. */
  isDue: fc.boolean(),
  /** What ends together with it, as a call that ends may let others end. */
  ends: fc.option(fc.nat(7), { nil: undefined }),
});

describe('Watch, whatever is added and removed', () => {
  fuzz(
    'stops what is due or aborted, in the order in which it was added, and nothing else',
    fc.tuple(fc.array(change, { maxLength: 30 }), fc.nat(60)),
    ([changes, abortAt]) => {
      const turn = new AbortController();
      const watch = new Watch(turn.signal);
      const stopped: string[] = [];
      const expected: string[] = [];
      const ways = new Map<number, Watched>();
      const model = new Map<number, { isDue: boolean; ends: number | undefined }>();
      const forget = (number: number) => {
        const watched = ways.get(number);
        if (watched !== undefined) watch.remove(watched);
        model.delete(number);
      };
      for (const [index, { number, isAdded, isDue, ends }] of changes.entries()) {
        // Nobody has listened to the signal yet.
        if (index === abortAt) turn.abort();
        forget(number);
        if (!isAdded) continue;
        const watched: Watched = {
          deadline: isDue ? 0 : Number.POSITIVE_INFINITY,
          before: undefined,
          after: undefined,
          stop: (why) => {
            stopped.push(`${number} ${why}`);
            const other = ends === undefined ? undefined : ways.get(ends);
            if (other !== undefined) watch.remove(other);
          },
        };
        if (turn.signal.aborted) {
          expected.push(`${number} abort`);
          if (ends !== undefined) model.delete(ends);
        } else model.set(number, { isDue, ends });
        ways.set(number, watched);
        watch.add(watched);
      }
      const expectStops = (why: 'abort' | 'timeout') => {
        for (const [number, { isDue, ends }] of [...model]) {
          if (!model.has(number) || (why === 'timeout' && !isDue)) continue;
          model.delete(number);
          if (ends !== undefined) model.delete(ends);
          expected.push(`${number} ${why}`);
        }
      };
      expectStops(turn.signal.aborted ? 'abort' : 'timeout');
      watch.setUp();
      expect(stopped).toEqual(expected);
      turn.abort();
      expectStops('abort');
      expect(stopped).toEqual(expected);
      watch.close();
    },
    { runs: { check: 300, long: 100_000 } },
  );
});

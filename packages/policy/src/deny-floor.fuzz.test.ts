import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { compileDenySet, denyFloor } from './deny-floor.js';
import { isInside, path, segmentsOf } from './fixtures/paths-arbitraries.js';

const floor = denyFloor({ home: '/home/ada', secretsDir: '/srv/secrets', extra: ['/a/b/'] });
const set = compileDenySet(floor);
const isExempt = (asked: string) => isInside(asked, '/dev/null');
const isDenied = (asked: string) => floor.some((root) => isInside(asked, root)) && !isExempt(asked);

const denied = fc.constantFrom(...floor);
/**
 * What may stand between two segments of a path without changing where it leads, if there are no
 * links.
 */
const nothing = fc.constantFrom('/', '//', '/./', '/x/../', '/x/y/../../', '/.///', '/..a/../');

describe('the deny floor, whatever the spelling', () => {
  fuzz(
    'covers every spelling of a denied place and of what is below it',
    fc.tuple(
      denied,
      fc.array(nothing, { minLength: 12, maxLength: 12 }),
      fc.array(fc.constantFrom('x', '.y'), { maxLength: 2 }),
      nothing,
    ),
    ([root, between, below, end]) => {
      const segments = [...root.split('/').filter((one) => one !== ''), ...below];
      const spelled = segments.map((one, at) => `${between[at] ?? '/'}${one}`).join('') + end;
      expect(set.covers(spelled) !== undefined).toBe(isDenied(spelled));
      const normal = `/${segments.join('/')}`;
      expect(set.coversNormal(normal) !== undefined).toBe(!isExempt(normal));
    },
    { runs: { check: 100, long: 100_000 } },
  );

  fuzz(
    'covers nothing else',
    fc
      .tuple(fc.constantFrom('', '/home/ada', '/etc', '/dev', '/home'), path)
      .map((parts) => parts.join('')),
    (asked) => {
      expect(set.covers(asked) !== undefined).toBe(isDenied(asked));
    },
  );

  fuzz(
    'refuses a list with a place that it could not deny, and keeps every other',
    fc.array(fc.oneof(path, fc.string({ maxLength: 4 })), { maxLength: 4 }),
    (extra) => {
      const isWhole = extra.every((one) => segmentsOf(one) !== undefined);
      const codeOf = (build: () => unknown) => {
        try {
          build();
          return undefined;
        } catch (error) {
          return Reflect.get(Object(error), 'code');
        }
      };
      const expected = isWhole ? undefined : 'CONFIG_INVALID';
      expect(codeOf(() => compileDenySet(extra))).toBe(expected);
      expect(codeOf(() => denyFloor({ home: '/h', extra }))).toBe(expected);
      if (!isWhole) return;
      const set = compileDenySet(denyFloor({ home: '/h', extra }));
      for (const one of extra) {
        expect(isExempt(one) || set.covers(`${one}/x`) !== undefined).toBe(true);
      }
    },
  );
});

import { growthOf, steepParts } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

const growths = await growthOf(new URL('./fixtures/growth.ts', import.meta.url), {
  check: [50, 100, 200],
  long: [100, 400, 1_600],
});

describe('the work on files of a reach is at most linear', () => {
  it.each(growths)('for $name', (growth) => {
    expect(steepParts(growth)).toEqual([]);
  });
});

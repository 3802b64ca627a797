import { growthOf, steepParts } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

const growths = await growthOf(new URL('./fixtures/growth.ts', import.meta.url));

describe('the work of locks and recorded runs is at most linear', () => {
  it.each(growths)('for $name', (growth) => {
    expect(steepParts(growth)).toEqual([]);
  });
});

import { growthOf, isLongRun, steepParts } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

const growths = isLongRun() ? await growthOf(new URL('./fixtures/growth.ts', import.meta.url)) : [];

describe.runIf(isLongRun())('the work of locks and recorded runs is at most linear', () => {
  it.each(growths)('for $name', (growth) => {
    expect(steepParts(growth)).toEqual([]);
  });
});

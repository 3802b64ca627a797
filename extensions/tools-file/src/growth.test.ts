import { growthOf, isLongRun, steepParts } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

const growths = isLongRun() ? await growthOf(new URL('./fixtures/growth.ts', import.meta.url)) : [];

/**
 * For each hunk, the engine searches and copies the whole text. That takes less than a millisecond for a
 * megabyte, and an index of the text takes longer to make. What the program itself does is linear.
 */
const BY_ENGINE = / (?:items|characters) for /;

describe.runIf(isLongRun())('the work of the file tools is at most linear', () => {
  it.each(growths)('for $name', (growth) => {
    const steep = steepParts(growth);
    const isOfHunks = growth.name.startsWith('n hunks');
    expect(steep.filter((part) => !isOfHunks || !BY_ENGINE.test(part))).toEqual([]);
  });
});

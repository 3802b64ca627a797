import { describe, expect, it } from 'vitest';
import type { TestSpecification } from 'vitest/node';
import { LongestFirstSequencer } from './longest-first-sequencer.js';

const spec = (moduleId: string, name = 'shared'): TestSpecification =>
  Object({ moduleId, project: { name } });

const LONG = ['/r/docs/snippets.test.ts', '/r/scripts/pack.test.ts', '/r/x/browse.test.ts'];
const FILES = [
  ...LONG.map((file) => spec(file)),
  ...Array.from({ length: 20 }, (_, at) => spec(`/r/a/${at}.test.ts`)),
  spec('/r/b/alone.test.ts', 'alone'),
];

async function shard(index: number, count: number, files = FILES): Promise<string[]> {
  const sequencer = new LongestFirstSequencer(Object({ config: { shard: { index, count } } }));
  return (await sequencer.shard(files)).map(({ moduleId }) => moduleId);
}

describe('LongestFirstSequencer.shard', () => {
  it.each([1, 2, 3, 7])('gives every file to one of %i shards', async (count) => {
    const shards = await Promise.all(
      Array.from({ length: count }, (_, at) => shard(at + 1, count)),
    );
    expect(shards.flat().toSorted()).toEqual(FILES.map(({ moduleId }) => moduleId).toSorted());
    const sizes = shards.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it('gives the longest files to different shards, in whatever order they are found', async () => {
    for (const index of [1, 2, 3]) {
      const files = await shard(index, 3);
      expect(files.filter((file) => LONG.includes(file))).toHaveLength(1);
      expect(await shard(index, 3, FILES.toReversed())).toEqual(files);
    }
  });
});

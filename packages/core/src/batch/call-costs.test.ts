import { collectGarbage, isLongRun } from '@ethosagent/test-support';
import type { ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { batchContext, makeTool } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const EVERYTHING: ToolCapabilities = {
  network: { allowedHosts: ['api.example.com'] },
  secrets: ['key'],
  storage: { scope: 'tool-private', kind: 'kv' },
  fs_reach: { read: 'from-personality' },
  process: { allowedBinaries: ['git'] },
};

const registry = new DefaultToolRegistry({
  kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
  secretsBackend: async () => 'value',
  personalityNetworkAllow: ['api.example.com'],
});
registry.register(makeTool('bare', async () => ({ ok: true, value: 'done' })));
registry.register(
  makeTool('all', async () => ({ ok: true, value: 'done' }), { capabilities: EVERYTHING }),
);

/**
 * The bytes that a call allocates in batches of a certain size. Rounds are short, so that no
 * garbage is collected during them.
 */
async function bytesOfCall(name: string, size: number): Promise<number> {
  const args = { city: 'London', days: 3 };
  const calls = Array.from({ length: size }, (_, index) => ({
    toolCallId: `${index}`,
    name,
    args,
  }));
  const context = batchContext();
  const batches = Math.max(1, Math.round(60 / size));
  const run = async () => {
    for (let batch = 0; batch < batches; batch++) await registry.executeParallel(calls, context);
  };
  // Warms up: a function allocates more until it is compiled.
  for (let round = 0; round < 3_000 / (batches * size); round++) await run();
  const rounds: number[] = [];
  for (let round = 0; round < 7; round++) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await run();
    rounds.push((process.memoryUsage().heapUsed - before) / batches / size);
  }
  return rounds.sort((a, b) => a - b)[3] ?? Number.NaN;
}

/**
 * The fewest bytes of several measurements, until one is low enough. The engine decides itself when
 * it optimizes a function, and that changes the result by a factor of two.
 */
async function fewestBytes(name: string, size: number, enough = 0): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 6 && fewest >= enough; attempt++) {
    fewest = Math.min(fewest, await bytesOfCall(name, size));
  }
  return fewest;
}

describe.runIf(isLongRun())('what a call allocates', () => {
  it.each([
    ['of a batch', 'bare', 60, 7_000],
    ['alone', 'bare', 1, 14_000],
    ['of a batch, with five accessors that it does not touch', 'all', 60, 14_000],
  ])('%s', async (_case, name, size, atMost) => {
    const bytes = await fewestBytes(name, size, atMost);
    expect(bytes).toBeGreaterThan(500);
    expect(bytes).toBeLessThan(atMost);
  });

  it('does not grow with the batch', async () => {
    const few = await fewestBytes('bare', 10);
    const many = await fewestBytes('bare', 160, few * 1.5);
    expect(many).toBeLessThan(few * 1.5);
  });
});

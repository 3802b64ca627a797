import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { inCheck, tries } from '@ethosagent/test-support';
import type { KeyValueStore, Tool, ToolResult } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

/** As in the guide to stateful tools. */
const counterTool: Tool = {
  name: 'usage_counter',
  description: 'Track per-topic usage counts across sessions.',
  toolset: 'analytics',
  capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
  schema: {
    type: 'object',
    properties: { topic: { type: 'string', description: 'Topic to increment' } },
    required: ['topic'],
  },
  async execute(args, ctx): Promise<ToolResult> {
    const { topic } = args as { topic: string };
    if (!topic) return { ok: false, error: 'topic is required', code: 'input_invalid' };

    const kv = ctx.kvStore;
    if (!kv) {
      return { ok: false, error: 'Storage capability not configured', code: 'not_available' };
    }
    const current = await kv.get(topic);
    const count = (current ? Number.parseInt(current, 10) : 0) + 1;
    await kv.set(topic, String(count));
    return { ok: true, value: `Topic "${topic}" has been queried ${count} time(s).` };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'usage-counter-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Store = { kvStoreFactory: (tool: string, scopeId: string) => KeyValueStore; close(): void };
let files = 0;
const STORES: Array<[string, () => Store]> = [
  ['SQLite', () => createSqliteKvStore({ path: join(folder, `${++files}.db`) })],
  ['memory', () => ({ ...createInMemoryKvStore(), close: () => {} })],
];

function calls(count: number, name = 'usage_counter', args: unknown = { topic: 'tea' }) {
  return Array.from({ length: count }, (_, index) => ({ toolCallId: `${index}`, name, args }));
}

describe.each(STORES)('the documented usage_counter on %s', (_name, open) => {
  const total = tries({ check: 200, long: 1_000 });
  const cases: Array<[string, number]> = [
    ['one batch', 1],
    ['10 batches at once', 10],
    ['a batch each, at once', total],
  ];
  it.each(inCheck(cases, ([, batches]) => batches === 10))(
    `${total} calls in %s count to ${total}`,
    async (_batches, batches) => {
      const each = total / batches;
      const store = open();
      const registry = new DefaultToolRegistry({ kvStoreFactory: store.kvStoreFactory });
      registry.register(counterTool);
      const ran = await Promise.all(
        Array.from({ length: batches }, () =>
          registry.executeParallel(calls(each), batchContext()),
        ),
      );
      const counts = ran
        .flat()
        .map(({ result }) => Number(/(\d+) time/.exec(result.ok ? result.value : '')?.[1]));
      expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
      expect(await store.kvStoreFactory('usage_counter', 'tool:usage_counter').get('tea')).toBe(
        String(total),
      );
      store.close();
    },
  );

  it('counts on in another registry over the same store', async () => {
    const store = open();
    const run = async () => {
      const registry = new DefaultToolRegistry({ kvStoreFactory: store.kvStoreFactory });
      registry.register(counterTool);
      return registry.executeParallel(calls(50), batchContext());
    };
    await Promise.all([run(), run()]);
    expect(await store.kvStoreFactory('usage_counter', 'tool:usage_counter').get('tea')).toBe(
      '100',
    );
    store.close();
  });

  it("with concurrency 'parallel', 1,000 increments count to 1,000", async () => {
    const store = open();
    const registry = new DefaultToolRegistry({ kvStoreFactory: store.kvStoreFactory });
    const storage = { scope: 'session', kind: 'kv', concurrency: 'parallel' } as const;
    registry.register(
      makeTool('count', async (_args, ctx) => ok(String(await ctx.kvStore?.increment?.('n'))), {
        capabilities: { storage },
      }),
    );
    await registry.executeParallel(calls(1000, 'count'), batchContext());
    expect(await store.kvStoreFactory('count', 'session:session-1').get('n')).toBe('1000');
    store.close();
  });

  it("with concurrency 'parallel', the documented code loses updates, which is why 'serial' is the default", async () => {
    const store = open();
    const registry = new DefaultToolRegistry({ kvStoreFactory: store.kvStoreFactory });
    const storage = { scope: 'tool-private', kind: 'kv', concurrency: 'parallel' } as const;
    registry.register({ ...counterTool, capabilities: { storage } });
    await registry.executeParallel(calls(100), batchContext());
    const count = await store.kvStoreFactory('usage_counter', 'tool:usage_counter').get('tea');
    expect(Number(count)).toBeLessThan(100);
    store.close();
  });
});

describe('a namespace that a call holds', () => {
  function registryWithHolder(timeoutMs = 30) {
    const store = createInMemoryKvStore();
    const registry = new DefaultToolRegistry({ kvStoreFactory: store.kvStoreFactory });
    const storage = { scope: 'session', kind: 'kv' } as const;
    const holder = (name: string, end: () => unknown) =>
      registry.register(
        makeTool(
          name,
          async (_args, ctx) => {
            await ctx.kvStore?.get('k');
            return end();
          },
          { timeoutMs, capabilities: { storage } },
        ),
      );
    holder('hang', () => new Promise(() => {}));
    holder('throw', () => {
      throw new Error('broken');
    });
    registry.register({ ...counterTool, capabilities: { storage } });
    return { store, registry };
  }

  it.each([['hang'], ['throw']])('is free again after a call that does %s', async (name) => {
    const { store, registry } = registryWithHolder();
    const results = await registry.executeParallel(
      [...calls(1, name), ...calls(3)],
      batchContext(),
    );
    expect(results.map(({ result }) => result.ok)).toEqual([false, true, true, true]);
    expect(await store.kvStoreFactory('usage_counter', 'session:session-1').get('tea')).toBe('3');
  });

  it('is free again after an abort, with calls waiting for it', async () => {
    // Its own time limit must not come before the abort, however busy the machine is.
    const { store, registry } = registryWithHolder(600_000);
    const controller = new AbortController();
    const pending = registry.executeParallel(
      [...calls(1, 'hang'), ...calls(10)],
      batchContext({ abortSignal: controller.signal }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    const results = await pending;
    expect(results.every(({ result }) => !result.ok)).toBe(true);
    expect(await runOne(registry, 'usage_counter', { topic: 'tea' })).toMatchObject({ ok: true });
    expect(await store.kvStoreFactory('usage_counter', 'session:session-1').get('tea')).toBe('1');
  });

  it('keeps no other namespace waiting', async () => {
    const { registry } = registryWithHolder();
    const hanging = runOne(registry, 'hang', {}, { sessionId: 'a' });
    expect(
      await runOne(registry, 'usage_counter', { topic: 'tea' }, { sessionId: 'b' }),
    ).toMatchObject({
      ok: true,
    });
    await hanging;
  });
});

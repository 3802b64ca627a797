import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { FsStorage } from '@ethosagent/storage-fs';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import { countTries, isLongRun, tries } from '@ethosagent/test-support';
import {
  errorCodeOf,
  type KeyValueStore,
  type QuotaLimits,
  type QuotaPolicy,
  type Storage,
  type ToolCapabilities,
  type ToolContext,
} from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { batchContext, makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'quotas-'));
const store = createSqliteKvStore({ path: join(root, 'state.sqlite') });
afterAll(() => {
  store.close();
  rmSync(root, { recursive: true, force: true });
});

const files = { read: 'from-personality', write: 'from-personality' } as const;
const parallelStore = { scope: 'session', kind: 'kv', concurrency: 'parallel' } as const;

/** A new empty folder to which tools may write. */
const folder = () => mkdtempSync(join(root, 'reach-'));

interface World {
  quotas: CapabilityBackends['personalityQuotas'];
  capabilities: ToolCapabilities;
  /** Returns the outcome of each access. */
  run: (ctx: ToolContext, args: unknown) => Promise<unknown>;
  backends?: CapabilityBackends;
}

/** A registry with one tool `t`, and the audit of its calls. */
function world({ quotas, capabilities, run, backends = {} }: World) {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({
    ...(quotas !== undefined && { personalityQuotas: quotas }),
    kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    storage: new FsStorage(),
    audit,
    ...backends,
  });
  registry.register(
    makeTool('t', async (args, ctx) => ok(JSON.stringify((await run(ctx, args)) ?? null)), {
      capabilities,
    }),
  );
  return {
    registry,
    audit,
    decisions: () =>
      audit.events.map(({ decision, reason }) =>
        decision === 'allowed' ? decision : `${decision}: ${reason}`,
      ),
    async call(args: unknown = {}, ctx: Parameters<typeof runOne>[3] = {}) {
      const result = await runOne(registry, 't', args, ctx);
      return result.ok ? JSON.parse(result.value) : result.error;
    },
  };
}

/** `ok`, or the code of the error. */
const outcome = (access: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(access).then(
    () => 'ok',
    (error: unknown) => errorCodeOf(error) ?? String(error),
  );

const inOrder = async (...accesses: (() => Promise<unknown> | undefined)[]) => {
  const outcomes: unknown[] = [];
  for (const access of accesses) outcomes.push(await outcome(access()));
  return outcomes;
};

function filesWorld(quotas: QuotaPolicy, run: (fs: Files, at: string) => Promise<unknown>) {
  const at = folder();
  const backends = { personalityFsReach: { read: [at], write: [at] } };
  const through = (pick: (ctx: ToolContext) => Files | undefined) =>
    world({
      quotas,
      capabilities: { fs_reach: files },
      backends,
      run: async (ctx) => {
        const fs = pick(ctx);
        return fs === undefined ? 'no files' : run(fs, at);
      },
    });
  return { at, through };
}

type Files = Pick<
  Storage,
  'read' | 'write' | 'append' | 'mkdir' | 'rename' | 'remove' | 'exists' | 'list'
>;

const ACCESSORS: [name: string, pick: (ctx: ToolContext) => Files | undefined][] = [
  ['scopedFs', (ctx) => Object(ctx.scopedFs)],
  ['ctx.storage', (ctx) => ctx.storage],
  [
    'a contained view of ctx.storage',
    (ctx) => ctx.storage?.contained?.({ read: [root], write: [root] }),
  ],
];

describe.each(ACCESSORS)('files_written, through %s', (_name, pick) => {
  it('counts each write, append, mkdir, rename and remove, and no read', async () => {
    const { at, through } = filesWorld({ per_call: { files_written: 5 } }, (fs, folder) =>
      inOrder(
        () => fs.write(join(folder, 'a'), 'x'),
        () => fs.append?.(join(folder, 'a'), 'y'),
        () => fs.mkdir(join(folder, 'd')),
        () => fs.read(join(folder, 'a')),
        () => fs.exists(join(folder, 'a')),
        () => fs.list(folder),
        () => fs.rename(join(folder, 'a'), join(folder, 'b')),
        () => fs.remove(join(folder, 'd'), { recursive: true }),
        () => fs.write(join(folder, 'c'), 'x'),
        () => fs.read(join(folder, 'b')),
      ),
    );
    const { call, decisions } = through(pick);
    const context = { storage: new FsStorage() };
    expect(await call({}, context)).toEqual([...Array(8).fill('ok'), 'QUOTA_EXCEEDED', 'ok']);
    expect(readdirSync(at)).toEqual(['b']);
    expect(decisions()).toEqual([
      ...Array(8).fill('allowed'),
      'denied: quota per_call.files_written',
      'allowed',
    ]);
    // Another call has its own quota.
    expect(await call({}, context)).toContain('ok');
  });

  it('takes nothing for what another rule refuses, and says that rule', async () => {
    const { at, through } = filesWorld({ per_call: { files_written: 1 } }, (fs, folder) =>
      inOrder(
        () => fs.write(join(root, 'outside'), 'x'),
        () => fs.write(`${folder}/nul\0`, 'x'),
        () => fs.rename(join(folder, 'absent'), join(root, 'outside')),
        () => fs.write(join(folder, 'a'), 'x'),
        () => fs.write(join(root, 'outside'), 'x'),
      ),
    );
    const outcomes = await through(pick).call({}, { storage: new FsStorage() });
    expect(outcomes).toEqual([
      'PATH_NOT_REACHABLE',
      'PATH_INVALID',
      'PATH_NOT_REACHABLE',
      'ok',
      'PATH_NOT_REACHABLE',
    ]);
    expect(readdirSync(at)).toEqual(['a']);
    expect(existsSync(join(root, 'outside'))).toBe(false);
  });

  it('of 0 changes nothing', async () => {
    const { at, through } = filesWorld({ per_session: { files_written: 0 } }, (fs, folder) =>
      inOrder(
        () => fs.write(join(folder, 'deep', 'a'), 'x'),
        () => fs.append?.(join(folder, 'deep', 'a'), 'x'),
        () => fs.mkdir(join(folder, 'd')),
        () => fs.list(folder),
      ),
    );
    expect(await through(pick).call({}, { storage: new FsStorage() })).toEqual([
      'QUOTA_EXCEEDED',
      'QUOTA_EXCEEDED',
      'QUOTA_EXCEEDED',
      'ok',
    ]);
    expect(readdirSync(at)).toEqual([]);
  });
});

it('files_written counts on a storage that announces no changes', async () => {
  const written: string[] = [];
  const plain: Storage = Object.assign(new FsStorage(), {
    contained: undefined,
    write: async (path: string) => void written.push(path),
  });
  const at = folder();
  const { call } = world({
    quotas: { per_call: { files_written: 3 } },
    capabilities: { fs_reach: files },
    backends: { storage: plain, personalityFsReach: { read: [at], write: [at] } },
    run: ({ scopedFs, storage }) =>
      inOrder(
        () => storage?.write(join(at, '1'), ''),
        // This storage does announce its changes.
        () => storage?.mkdir(join(at, 'd')),
        () => scopedFs?.write(join(at, '2'), ''),
        () => storage?.write(join(at, '3'), ''),
        () => scopedFs?.write(join(at, '4'), ''),
      ),
  });
  expect(await call({}, { storage: plain })).toEqual([
    'ok',
    'ok',
    'ok',
    'QUOTA_EXCEEDED',
    'QUOTA_EXCEEDED',
  ]);
  expect(written).toEqual([join(at, '1'), join(at, '2')]);
});

describe('per_session', () => {
  it('100 calls of four batches race for 7 writes: 7 pass', async (context) => {
    const rounds = tries({ check: 3, long: 100 });
    for (let round = 0; round < rounds; round++) {
      const at = folder();
      const { registry, decisions } = world({
        quotas: { per_session: { files_written: 7 } },
        capabilities: { fs_reach: files },
        backends: { personalityFsReach: { read: [at], write: [at] } },
        run: ({ scopedFs }, args) => outcome(scopedFs?.write(join(at, String(args)), 'x')),
      });
      const batches = [0, 1, 2, 3].map((batch) =>
        registry.executeParallel(
          Array.from({ length: 25 }, (_, n) => ({
            toolCallId: `${n}`,
            name: 't',
            args: `${batch}-${n}`,
          })),
          batchContext(),
        ),
      );
      const results = (await Promise.all(batches)).flat().map(({ result }) => result);
      expect(results.filter((result) => result.ok && result.value === '"ok"')).toHaveLength(7);
      expect(readdirSync(at)).toHaveLength(7);
      expect(decisions().filter((each) => each.startsWith('allowed'))).toHaveLength(7);
      expect(decisions()).toHaveLength(100);
    }
    countTries(context, 'quotas', rounds * 100);
  });

  it('belongs to one session, whichever personality, under that personality’s caps', async () => {
    const caps: Record<string, QuotaPolicy | undefined> = {
      narrow: { per_session: { files_written: 2 } },
      wide: { per_session: { files_written: 3 } },
    };
    const at = folder();
    let names = 0;
    const { call, registry } = world({
      quotas: (id) => caps[String(id)],
      capabilities: { fs_reach: files },
      backends: { personalityFsReach: { read: [at], write: [at] } },
      run: ({ scopedFs }) => outcome(scopedFs?.write(join(at, String(names++)), 'x')),
    });
    const as = (personalityId: string, sessionId = 's1') => call({}, { personalityId, sessionId });
    expect(await as('narrow')).toBe('ok');
    expect(await as('wide')).toBe('ok');
    expect(await as('narrow')).toBe('QUOTA_EXCEEDED');
    expect(await as('wide')).toBe('ok');
    expect(await as('wide')).toBe('QUOTA_EXCEEDED');
    expect(await as('wide', 's2')).toBe('ok');
    expect(await as('unlimited')).toBe('ok');
    // Asked for every call.
    caps.wide = { per_session: { files_written: 4 } };
    expect(await as('wide')).toBe('ok');
    expect(await as('wide')).toBe('QUOTA_EXCEEDED');
    registry.forgetSession('s1');
    expect(await as('wide')).toBe('ok');
  });

  // In a check, the test of `SessionMeters` holds it.
  it.runIf(isLongRun())(
    'is kept while it is among the newest 10,000 in which nothing runs',
    async () => {
      const { call } = world({
        quotas: { per_session: { store_bytes: 2 } },
        capabilities: { storage: parallelStore },
        run: async ({ kvStore }, key) => outcome(kvStore?.set(String(key), 'v')),
      });
      const fill = (sessionId: string, key = 'k') => call(key, { sessionId });
      expect(await fill('first')).toBe('ok');
      for (let n = 1; n < 10_000; n++) await fill(`other-${n}`);
      expect(await fill('first', 'l')).toBe('QUOTA_EXCEEDED');
      for (let n = 0; n < 10_000; n++) await fill(`another-${n}`);
      expect(await fill('first', 'l')).toBe('ok');
    },
  );

  it('a source that throws ends the call, not the batch', async () => {
    const { call } = world({
      quotas: () => {
        throw new Error('the file is gone');
      },
      capabilities: { fs_reach: files },
      run: async () => 'ran',
    });
    expect(await call()).toBe('the file is gone');
  });
});

describe('what an operator sees', () => {
  it('describe shows the caps of a tool that reaches anything', () => {
    const quotas = { per_call: { requests: 1 }, per_session: { store_bytes: 10 } };
    const { registry } = world({
      quotas: (id) => (id === 'p' ? quotas : undefined),
      capabilities: { network: { allowedHosts: ['a.example'] } },
      run: async () => {},
    });
    registry.register(makeTool('pure'));
    const ctx = { sessionId: 's', personalityId: 'p' };
    expect(registry.describe('t', ctx)?.quotas).toEqual(quotas);
    expect(registry.describe('pure', ctx)).toEqual({});
    expect(registry.describe('t', { sessionId: 's' })).not.toHaveProperty('quotas');
  });

  it('the result names the cap, and what to do', async () => {
    const at = folder();
    const { call } = world({
      quotas: { per_session: { files_written: 0 } },
      capabilities: { fs_reach: files },
      backends: { personalityFsReach: { read: [at], write: [at] } },
      run: ({ scopedFs }) => scopedFs?.write(join(at, 'a'), 'x') ?? Promise.resolve(),
    });
    expect(await call()).toBe(
      'QUOTA_EXCEEDED: this session has used 0 of 0 files_written, and this needs 1 more; use less, or ask the operator to raise safety.quotas.per_session.files_written',
    );
  });
});

it('an increment that never wins ends with its call', async () => {
  const stuck: Required<KeyValueStore> = {
    ...createInMemoryKvStore().kvStoreFactory('t', 's'),
    compareAndSet: async () => false,
  };
  const registry = new DefaultToolRegistry({
    personalityQuotas: { per_call: { store_bytes: 10 } },
    kvStoreFactory: () => stuck,
  });
  let outcomeOfIncrement: Promise<unknown> | undefined;
  registry.register(
    makeTool(
      't',
      (_, { kvStore }) => {
        outcomeOfIncrement = outcome(kvStore?.increment?.('n'));
        return outcomeOfIncrement;
      },
      { capabilities: { storage: parallelStore }, timeoutMs: 50 },
    ),
  );
  expect(await runOne(registry, 't')).toMatchObject({
    error:
      't took longer than 50 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
  });
  expect(await outcomeOfIncrement).toBe('CALL_ENDED');
});

const factories: [string, () => (tool: string, scopeId: string) => KeyValueStore][] = [
  ['in memory', () => createInMemoryKvStore().kvStoreFactory],
  ['SQLite', () => store.kvStoreFactory],
];

describe.each(factories)('store_bytes, %s', (_name, factory) => {
  let sessions = 0;
  const kvWorld = (
    quotas: QuotaLimits,
    run: (kv: KeyValueStore) => Promise<unknown>,
    storage: NonNullable<ToolCapabilities['storage']> = parallelStore,
  ) => {
    const sessionId = `kv-${_name}-${sessions++}`;
    const made = world({
      quotas: { per_session: quotas },
      capabilities: { storage },
      backends: { kvStoreFactory: factory() },
      run: async ({ kvStore }) => (kvStore === undefined ? 'no store' : run(kvStore)),
    });
    return { ...made, call: () => made.call({}, { sessionId }) };
  };

  it('counts the UTF-8 bytes of keys and values that are there', async () => {
    const { call, decisions } = kvWorld({ store_bytes: 10 }, (kv) =>
      inOrder(
        () => kv.set('k', '😀€'), // 1 + 4 + 3
        () => kv.set('l', 'xx'), // over by 1
        () => kv.set('l', 'x'), // exactly
        () => kv.set('k', '😀€x'),
        () => kv.set('k', '€'),
        () => kv.delete('l'),
        () => kv.set('m', '12345'),
        () => kv.get('l'),
        () => kv.list(''),
      ),
    );
    expect(await call()).toEqual([
      'ok',
      'QUOTA_EXCEEDED',
      'ok',
      'QUOTA_EXCEEDED',
      ...Array(5).fill('ok'),
    ]);
    expect(decisions().filter((each) => each.startsWith('denied'))).toEqual(
      Array(2).fill('denied: quota per_session.store_bytes'),
    );
    expect(decisions()).toHaveLength(9);
  });

  it('counts increment and compareAndSet, and nothing for what comes to nothing', async () => {
    const { call } = kvWorld({ store_bytes: 6 }, async (kv) => [
      ...(await inOrder(
        () => kv.increment?.('n', 9), // 2
        () => kv.compareAndSet?.('c', 'other', '1234567'), // over, whatever is there
        () => kv.compareAndSet?.('d', 'other', '123'), // comes to nothing
        () => kv.set('e', '123', { ttlSeconds: -1 }),
        () => kv.set('f', '\ud800'),
        () => kv.compareAndSet?.('c', null, '123'), // 6
        () => kv.increment?.('n'), // 10 is a digit more
        () => kv.increment?.('n', -1),
        () => kv.increment?.('c'), // 124
        () => kv.increment?.('n', 0.5),
        () => kv.set('c', '999'),
      )),
      await kv.get('n'),
      await kv.get('c'),
    ]);
    expect(await call()).toEqual([
      'ok',
      'QUOTA_EXCEEDED',
      'ok',
      'TTL_INVALID',
      'VALUE_INVALID',
      'ok',
      'QUOTA_EXCEEDED',
      'ok',
      'ok',
      'VALUE_INVALID',
      'ok',
      '8',
      '999',
    ]);
  });

  it('lets 40 increments at once add up, in parallel and in turns', async () => {
    for (const concurrency of ['parallel', 'serial'] as const) {
      const { call } = kvWorld(
        { store_bytes: 3 },
        async (kv) => {
          await Promise.all(Array.from({ length: 40 }, () => kv.increment?.('n')));
          return kv.get('n');
        },
        { scope: 'session', kind: 'kv', concurrency },
      );
      expect(await call()).toBe('40');
    }
  });

  it('keeps keys of two namespaces apart', async () => {
    const registry = new DefaultToolRegistry({
      personalityQuotas: { per_session: { store_bytes: 4 } },
      kvStoreFactory: factory(),
    });
    for (const [name, key] of [
      ['a', 'bk'],
      ['ab', 'k'],
    ] as const) {
      registry.register(
        makeTool(name, async (_, ctx) => ok(String(await outcome(ctx.kvStore?.set(key, 'v')))), {
          capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
        }),
      );
    }
    const sessionId = `kv-apart-${_name}`;
    expect(await runOne(registry, 'a', {}, { sessionId })).toEqual(ok('ok'));
    expect(await runOne(registry, 'ab', {}, { sessionId })).toEqual(ok('QUOTA_EXCEEDED'));
  });

  const runs = { check: 10, nightly: 400, long: 2000 };
  const key = fc.constantFrom('', 'a', 'bb', '€');
  const step = fc.oneof(
    fc.tuple(fc.constant('set' as const), key, fc.string({ maxLength: 8, unit: 'grapheme' })),
    fc.tuple(fc.constant('delete' as const), key, fc.constant('')),
    fc.tuple(fc.constant('swap' as const), key, fc.constantFrom('', '1', 'xyz')),
    fc.tuple(fc.constant('increment' as const), key, fc.constantFrom('1', '99', '-5')),
  );
  const apply = (kv: KeyValueStore, [what, key, text]: readonly [string, string, string]) => {
    if (what === 'set') return kv.set(key, text);
    if (what === 'delete') return kv.delete(key);
    if (what === 'increment') return kv.increment?.(key, Number(text));
    return kv.get(key).then((current) => kv.compareAndSet?.(key, current, text));
  };
  const size = async (kv: KeyValueStore) => {
    let bytes = 0;
    for (const key of await kv.list('')) {
      bytes += Buffer.byteLength(key) + Buffer.byteLength((await kv.get(key)) ?? '');
    }
    return bytes;
  };

  fuzz(
    'one write after another passes when what is there afterwards fits, and not otherwise',
    fc.tuple(fc.nat(20), fc.array(step, { maxLength: 25 })),
    async ([store_bytes, steps]) => {
      const model = createInMemoryKvStore().kvStoreFactory('t', 'model');
      const { call } = kvWorld({ store_bytes }, async (kv) => {
        for (const step of steps) {
          const before = await model.get(step[1]);
          const sizeBefore = await size(model);
          let expected = await outcome(apply(model, step));
          const sizeAfter = await size(model);
          if (sizeAfter > sizeBefore && sizeAfter > store_bytes) {
            expected = 'QUOTA_EXCEEDED';
            await (before === null ? model.delete(step[1]) : model.set(step[1], before));
          }
          expect([step, await outcome(apply(kv, step))]).toEqual([step, expected]);
          expect(await kv.get(step[1])).toBe(await model.get(step[1]));
        }
      });
      expect(await call()).toBe(null);
    },
    { promised: 'quotas', runs },
  );

  fuzz(
    'writes at once never leave more than fits',
    fc.tuple(fc.nat(20), fc.array(step, { maxLength: 25 })),
    async ([store_bytes, steps]) => {
      const { call } = kvWorld({ store_bytes }, async (kv) => {
        await Promise.all(steps.map((step) => outcome(apply(kv, step))));
        return size(kv);
      });
      expect(await call()).toBeLessThanOrEqual(store_bytes);
    },
    {
      promised: 'quotas',
      runs,
      corpus: [
        // A store may settle the writes of one key in another order than it made them.
        [
          3,
          [
            ['swap', 'bb', ''],
            ['delete', 'bb', ''],
            ['swap', '', 'xyz'],
          ],
        ],
      ],
    },
  );
});

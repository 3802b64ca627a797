import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteKvStore } from '@ethosagent/storage-sqlite';
import {
  EthosError,
  errorCodeOf,
  type KeyValueStore,
  type QuotaLimits,
  type ToolResult,
} from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'shared-quotas-'));
const opened: Array<() => void> = [];
afterAll(() => {
  for (const close of opened) close();
  rmSync(root, { recursive: true, force: true });
});

let files = 0;

/** Starts machines that count in the same file, each through a connection of its own. */
function fleet(per_session: QuotaLimits) {
  const path = join(root, `${files++}.sqlite`);
  return () => {
    const { kvStoreFactory, close } = createSqliteKvStore({ path });
    opened.push(close);
    return machine(per_session, { sessionQuotas: kvStoreFactory('quotas', 'quotas:sessions') });
  };
}

/** A registry whose tool `put` writes `bytes` to a key. */
function machine(per_session: QuotaLimits, backends: CapabilityBackends) {
  let ran = 0;
  const registry = new DefaultToolRegistry({
    kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
    personalityQuotas: { per_session },
    ...backends,
  });
  registry.register(
    makeTool(
      'put',
      async (args, ctx) => {
        ran++;
        const { key = 'k', bytes } = args as { key?: string; bytes: number };
        await ctx.kvStore?.set(key, 'x'.repeat(bytes - key.length));
        return ok('written');
      },
      { capabilities: { storage: { scope: 'session', kind: 'kv', concurrency: 'parallel' } } },
    ),
  );
  return {
    registry,
    ran: () => ran,
    put: (args: { key?: string; bytes: number }, sessionId = 's') =>
      runOne(registry, 'put', args, { sessionId }),
  };
}

const causeOf = (result: ToolResult) => (result.ok ? 'ok' : result.cause);

describe('per_session quotas that processes share', () => {
  it('count what was used in another process, and after a restart', async () => {
    const start = fleet({ store_bytes: 100 });
    const [first, second] = [start(), start()];
    expect(causeOf(await first.put({ bytes: 60 }))).toBe('ok');
    expect(causeOf(await second.put({ bytes: 60 }))).toBe('QUOTA_EXCEEDED');
    expect(causeOf(await second.put({ bytes: 40 }))).toBe('ok');
    const third = start();
    expect(causeOf(await third.put({ bytes: 2 }))).toBe('QUOTA_EXCEEDED');
    expect(causeOf(await first.put({ key: 'l', bytes: 2 }))).toBe('QUOTA_EXCEEDED');
    // Another session has its own counts.
    expect(causeOf(await third.put({ bytes: 100 }, 'other'))).toBe('ok');
  });

  it('give back what a call removes where it was written', async () => {
    const start = fleet({ store_bytes: 100 });
    const [first, second] = [start(), start()];
    await first.put({ bytes: 90 });
    await first.put({ bytes: 10 });
    expect(causeOf(await second.put({ bytes: 90 }))).toBe('ok');
  });

  it('begin anew in all processes once the session has ended', async () => {
    const start = fleet({ store_bytes: 100 });
    const [first, second] = [start(), start()];
    await first.put({ bytes: 100 });
    await first.registry.endSession('s');
    expect(causeOf(await second.put({ bytes: 100 }))).toBe('ok');
  });

  it('begin anew also where the ended session was in use, and then count all processes', async () => {
    const start = fleet({ store_bytes: 100 });
    const [first, second] = [start(), start()];
    await first.put({ key: 'a', bytes: 50 });
    await second.put({ key: 'b', bytes: 50 });
    await first.registry.endSession('s');
    expect(causeOf(await second.put({ key: 'c', bytes: 60 }))).toBe('ok');
    // What was written before the end gives nothing back.
    expect(causeOf(await second.put({ key: 'b', bytes: 1 }))).toBe('ok');
    expect(causeOf(await first.put({ key: 'd', bytes: 40 }))).toBe('QUOTA_EXCEEDED');
    expect(causeOf(await first.put({ key: 'd', bytes: 39 }))).toBe('ok');
    expect(causeOf(await second.put({ key: 'e', bytes: 1 }))).toBe('QUOTA_EXCEEDED');
  });

  it('let no call run whose caps can not be looked up', async () => {
    const away = async () => {
      throw new EthosError('STORE_UNAVAILABLE', 'the database does not answer');
    };
    const { put, ran } = machine(
      { store_bytes: 100 },
      { sessionQuotas: { ...kvOf(createInMemoryKvStore()), get: away, increment: away } },
    );
    const result = await put({ bytes: 1 });
    expect(result).toMatchObject({
      ok: false,
      cause: 'STORE_UNAVAILABLE',
      error: expect.stringContaining('the call did not run'),
    });
    expect(ran()).toBe(0);
  });

  it.each(['x', '1e999', 'NaN'])('let nothing through for a count of %j', async (count) => {
    const shared = kvOf(createInMemoryKvStore());
    await shared.set('store_bytes:s', count);
    const { put } = machine({ store_bytes: 100 }, { sessionQuotas: shared });
    expect(causeOf(await put({ bytes: 1 }))).toBe('QUOTA_EXCEEDED');
  });

  it('add with the next call what could not be added at the end of one', async () => {
    const shared = kvOf(createInMemoryKvStore());
    const { increment } = shared;
    let isAway = true;
    const flaky: KeyValueStore = {
      ...shared,
      increment: async (...args) => {
        if (isAway) throw new EthosError('STORE_UNAVAILABLE', 'gone');
        return increment(...args);
      },
    };
    const first = machine({ store_bytes: 100 }, { sessionQuotas: flaky });
    const second = machine({ store_bytes: 100 }, { sessionQuotas: shared });
    expect(causeOf(await first.put({ bytes: 60 }))).toBe('ok');
    isAway = false;
    expect(causeOf(await first.put({ key: 'l', bytes: 1 }))).toBe('ok');
    expect(causeOf(await second.put({ bytes: 60 }))).toBe('QUOTA_EXCEEDED');
  });

  it.each([
    ['before a call', 'get', 'CALL_ABORTED', 0],
    ['after a call', 'increment', 'ok', 1],
  ] as const)(
    'hold up no turn that is aborted, where the store hangs %s',
    async (_, at, cause, runs) => {
      const turn = new AbortController();
      const hangs = () => {
        turn.abort();
        return new Promise<never>(() => {});
      };
      const shared = { ...kvOf(createInMemoryKvStore()), [at]: hangs };
      const { registry, ran } = machine({ store_bytes: 100 }, { sessionQuotas: shared });
      const ctx = { sessionId: 's', abortSignal: turn.signal };
      expect(causeOf(await runOne(registry, 'put', { bytes: 1 }, ctx))).toBe(cause);
      expect(ran()).toBe(runs);
    },
  );

  it('hold for many calls at once in one process', async () => {
    const start = fleet({ store_bytes: 100 });
    const [first, second] = [start(), start()];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => first.put({ key: `${n}`, bytes: 10 })),
    );
    expect(results.filter(({ ok: isOk }) => isOk)).toHaveLength(10);
    expect(causeOf(await second.put({ bytes: 1 }))).toBe('QUOTA_EXCEEDED');
  });

  it('count alone in a store that can not add', async () => {
    const { increment: _, ...plain } = kvOf(createInMemoryKvStore());
    const first = machine({ store_bytes: 100 }, { sessionQuotas: plain });
    const second = machine({ store_bytes: 100 }, { sessionQuotas: plain });
    expect(causeOf(await first.put({ bytes: 100 }))).toBe('ok');
    expect(causeOf(await second.put({ bytes: 100 }))).toBe('ok');
  });

  it('ask no store where the personality has no such caps', async () => {
    const never = async () => expect.fail('asked');
    const { put } = machine(
      {},
      {
        personalityQuotas: { per_call: { store_bytes: 10 } },
        sessionQuotas: { ...kvOf(createInMemoryKvStore()), get: never, increment: never },
      },
    );
    expect(causeOf(await put({ bytes: 10 }))).toBe('ok');
  });

  it('end a process when the time is up that others used a part of', async () => {
    const shared = kvOf(createInMemoryKvStore());
    await shared.set('process_seconds:s', '999999');
    const registry = new DefaultToolRegistry({
      personalityQuotas: { per_session: { process_seconds: 1000 } },
      sessionQuotas: shared,
    });
    registry.register(
      makeTool(
        'run',
        async (_, ctx) => {
          const wait = ['-e', 'setInterval(() => {}, 1e6)'];
          const ending = await ctx.scopedProcess
            ?.spawn(process.execPath, wait)
            .then(() => 'ended by itself', errorCodeOf);
          return ok(JSON.stringify(ending));
        },
        { capabilities: { process: { allowedBinaries: [process.execPath] } } },
      ),
    );
    expect(await runOne(registry, 'run', {}, { sessionId: 's' })).toEqual(ok('"QUOTA_EXCEEDED"'));
  });
});

function kvOf({ kvStoreFactory }: ReturnType<typeof createInMemoryKvStore>) {
  const store = kvStoreFactory('quotas', 'quotas:sessions');
  return store as KeyValueStore & Required<Pick<KeyValueStore, 'increment'>>;
}

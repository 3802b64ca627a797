import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { ToolContext } from '@ethosagent/types';
import { describe, expect, it, vi } from 'vitest';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { batchContext, makeTool, ok } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

/** Runs a tool in a batch of its own, which the tool can abort. */
async function runAborting(execute: (ctx: ToolContext, abort: () => void) => unknown) {
  const controller = new AbortController();
  const { kvStoreFactory } = createInMemoryKvStore();
  const store = kvStoreFactory('t', 'tool:t');
  const registry = new DefaultToolRegistry({ kvStoreFactory });
  const run = async (_args: unknown, ctx: ToolContext) => {
    // After this, the call is watched, and nobody listens to the signal yet.
    await Promise.resolve();
    await execute(ctx, () => controller.abort('over'));
    return ok('done');
  };
  registry.register(
    makeTool('t', run, { capabilities: { storage: { scope: 'tool-private', kind: 'kv' } } }),
  );
  const calls = [{ toolCallId: '1', name: 't', args: {} }];
  const pending = registry.executeParallel(calls, batchContext({ abortSignal: controller.signal }));
  return { pending, store, controller };
}

describe('an abort before anybody listens to it', () => {
  it('fails the call that brought it about, though it goes on and returns', async () => {
    const { pending } = await runAborting((_ctx, abort) => abort());
    const [answer] = await pending;
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
  });

  it.each([0, 1, 2, 5, 20])('keeps the tool from effects %i promises later', async (promises) => {
    let thrown: unknown;
    const { pending, store } = await runAborting(async (ctx, abort) => {
      abort();
      for (let settled = 0; settled < promises; settled++) await Promise.resolve();
      await ctx.kvStore?.set('k', 'written').catch((error: unknown) => {
        thrown = error;
      });
    });
    const [answer] = await pending;
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    await setImmediate();
    expect(await store.get('k')).toBeNull();
    expect(thrown).toMatchObject({ code: 'CALL_ENDED' });
  });

  it('ends a call that waits, and leaves no listener', async () => {
    const { pending, controller } = await runAborting((_ctx, abort) => {
      abort();
      return new Promise(() => {});
    });
    const [answer] = await pending;
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('ends arguments that are parsed', async () => {
    const controller = new AbortController();
    const registry = new DefaultToolRegistry();
    let ran = false;
    registry.register({
      ...makeTool('t'),
      input: {
        async parse(args: unknown) {
          await Promise.resolve();
          controller.abort('over');
          return { ok: true as const, args };
        },
        async run() {
          ran = true;
          return ok('ran');
        },
      },
    });
    const context = batchContext({ abortSignal: controller.signal });
    const calls = [{ toolCallId: '1', name: 't', args: {} }];
    const [answer] = await registry.executeParallel(calls, context);
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    expect(ran).toBe(false);
  });

  it('is heard once the tool waits for more than promises', async () => {
    const { pending, controller } = await runAborting(() => new Promise(() => {}));
    await setImmediate();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort('later');
    const [answer] = await pending;
    expect(answer?.result).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('a time limit holds for a call that begins after others of its batch', async () => {
    const registry = new DefaultToolRegistry(undefined, undefined, { maxConcurrency: 1 });
    registry.register(makeTool('quick'));
    registry.register(makeTool('stuck', () => new Promise(() => {}), { timeoutMs: 20 }));
    const names = ['quick', 'stuck', 'quick', 'stuck'];
    const calls = names.map((name, index) => ({ toolCallId: `${index}`, name, args: {} }));
    const answers = await registry.executeParallel(calls, batchContext());
    expect(answers.map(({ result }) => (result.ok ? 'ok' : result.cause))).toEqual([
      'ok',
      'CALL_TIMED_OUT',
      'ok',
      'CALL_TIMED_OUT',
    ]);
  });

  it('a time limit does not count what a call of the batch did before', async () => {
    const registry = new DefaultToolRegistry();
    const timeoutMs = 1_000;
    const now = vi.spyOn(performance, 'now');
    registry.register(
      makeTool('busy', async () => {
        const then = performance.now() + timeoutMs;
        now.mockImplementation(() => then);
        return ok('busy');
      }),
    );
    registry.register(makeTool('waits', () => setImmediate(ok('waited')), { timeoutMs }));
    const calls = ['busy', 'waits'].map((name) => ({ toolCallId: name, name, args: {} }));
    const answers = await registry.executeParallel(calls, batchContext());
    now.mockRestore();
    expect(answers.map(({ result }) => result)).toEqual([ok('busy'), ok('waited')]);
  });
});

describe('a signal of the host that fails', () => {
  const fail = () => {
    throw new TypeError('no listeners here');
  };

  it.each([
    [
      'to be listened to: the calls end',
      { addEventListener: fail },
      'CALL_ABORTED',
      'CALL_ABORTED',
    ],
    ['to be let go: the answers come', { removeEventListener: fail }, 'CALL_TIMED_OUT', 'ok'],
  ])('%s', async (_case, faults, ...expected) => {
    const registry = new DefaultToolRegistry(undefined, undefined, { maxConcurrency: 1 });
    registry.register(makeTool('stuck', () => new Promise(() => {}), { timeoutMs: 20 }));
    registry.register(makeTool('quick'));
    const calls = ['stuck', 'quick'].map((name) => ({ toolCallId: name, name, args: {} }));
    const abortSignal = Object.assign(new AbortController().signal, faults);
    const answers = await registry.executeParallel(calls, batchContext({ abortSignal }));
    expect(answers.map(({ result }) => (result.ok ? 'ok' : result.cause))).toEqual(expected);
  });
});

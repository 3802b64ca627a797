import { getEventListeners } from 'node:events';
import { countTries, seedOfRun, tries } from '@ethosagent/test-support';
import type {
  ToolBatchContext,
  ToolCallResult,
  ToolProgressEvent,
  ToolRegistry,
} from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { Random } from '../../contained/random.js';
import {
  batchContext,
  type CreateRegistry,
  callsOf,
  LONGEST_MS,
  ok,
  pause,
  thrower,
  toolOf,
  untyped,
} from './batch.js';

/**
 * Attacks with approvals, aborts, nested batches and changes of the registry while calls run, and
 * with floods of events.
 */
export function lifecycleAttacks(create: CreateRegistry): void {
  describe('aborts and approvals at every moment', () => {
    it(
      'a call runs only after its approval, and never begins after an abort',
      async (context) => {
        const batches = tries({ check: 20, long: 20_000 });
        const random = new Random(seedOfRun());
        for (let batch = 0; batch < batches; batch += 1) await abortedBatch(create, random);
        countTries(context, 'batches', batches);
      },
      LONGEST_MS,
    );

    it.for<[string, () => unknown]>([
      ['hangs until the abort', () => new Promise(() => {})],
      ['throws', thrower(new Error('the host’s secret'))],
      ['throws null', thrower(null)],
      ['rejects', async () => thrower(new Error('the host’s secret'))()],
      ['gives a promise whose then throws', () => promiseWithThen(thrower(new Error('secret')))],
      ['gives a promise whose then does nothing', () => promiseWithThen(() => {})],
      ['gives 1', () => 1],
      ['gives "true"', () => 'true'],
      ['gives { approved: 1 }', () => ({ approved: 1 })],
      [
        'gives a getter that throws',
        () => ({
          get approved(): boolean {
            return thrower(new Error('secret'))();
          },
        }),
      ],
    ])('an approval that %s is none', async ([, approve], context) => {
      let ran = false;
      const controller = new AbortController();
      const registry = create({ approve: untyped(approve) });
      registry.register(
        toolOf(
          'pays',
          () => {
            ran = true;
            return ok('paid');
          },
          { requiresApproval: true },
        ),
      );
      registry.register(toolOf('free', () => ok('free')));
      const ctx = batchContext({ abortSignal: controller.signal });
      setTimeout(() => controller.abort(), 20);
      const results = await registry.executeParallel(callsOf(['pays', 'free']), ctx);
      expect(results.map(({ result }) => result)).toEqual([
        {
          ok: false,
          code: 'not_available',
          error: expect.not.stringContaining('secret'),
          cause: expect.stringMatching(/^(NOT_APPROVED|CALL_ABORTED)$/),
        },
        ok('free'),
      ]);
      expect(ran).toBe(false);
      countTries(context, 'batches', 1);
    });
  });

  describe('a tool that uses its registry', () => {
    it('may run batches in batches, and none waits for itself', async (context) => {
      const registry = create();
      registry.register(
        toolOf('deep', async (args) => {
          const { levels } = Object(args);
          if (levels === 0) return ok('bottom');
          const calls = callsOf(Array(2).fill('deep'), { levels: levels - 1 });
          const results = await registry.executeParallel(calls, batchContext());
          return ok(results.map(({ result }) => (result.ok ? result.value : result.error)).join());
        }),
      );
      // More calls than may run at once, each of which waits for a batch of its own.
      const calls = callsOf(Array(100).fill('deep'), { levels: 3 });
      const ctx = batchContext({ resultBudgetChars: 1_000_000 });
      const results = await registry.executeParallel(calls, ctx);
      const bottoms = Array(8).fill('bottom').join();
      expect(results.map(({ result }) => result)).toEqual(Array(100).fill(ok(bottoms)));
      countTries(context, 'batches', 1 + 100 * 7);
    });

    it.for<[string, (registry: ToolRegistry) => void]>([
      ['replaces itself', (registry) => registry.register(toolOf('t', () => ok('new')))],
      ['removes itself', (registry) => registry.unregister('t')],
      ['removes every plugin', (registry) => registry.unregisterPlugin('p')],
    ])('one that %s while it runs answers, and so do the others', async ([, change], context) => {
      const registry = create();
      const mine = async () => {
        change(registry);
        await pause(1);
        return ok('old');
      };
      registry.register(toolOf('t', mine));
      registry.register(
        toolOf('plugged', () => ok('plugged')),
        { pluginId: 'p' },
      );
      const names = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 't' : 'plugged'));
      const results = await registry.executeParallel(callsOf(names), batchContext());
      expect(results.map(({ name }) => name)).toEqual(names);
      for (const { name, result } of results) {
        if (result.ok) expect(name === 't' ? ['old', 'new'] : ['plugged']).toContain(result.value);
        else expect(result.code).toBe('not_available');
      }
      countTries(context, 'batches', 1);
    });
  });

  describe('floods of events', () => {
    const flood = async (count: number, message: string, emit: ToolBatchContext['emit']) => {
      const registry = create();
      registry.register(
        toolOf('floods', (_args, ctx) => {
          for (let index = 0; index < count; index += 1) {
            ctx.emit({ type: 'progress', toolName: 'forged', message, percent: index });
          }
          return ok('done');
        }),
      );
      return registry.executeParallel(callsOf(['floods', 'floods']), batchContext({ emit }));
    };
    const done = [ok('done'), ok('done')];
    const resultsOf = (results: readonly ToolCallResult[]) => results.map(({ result }) => result);

    it('100,000 events: 10,000 a call are passed on, in order, under the tool’s own name', async (context) => {
      const events: ToolProgressEvent[] = [];
      const results = await flood(100_000, 'm', (event) => events.push(event));
      expect(resultsOf(results)).toEqual(done);
      expect(events).toHaveLength(20_000);
      expect(events.slice(0, 3).map(({ percent }) => percent)).toEqual([0, 1, 2]);
      expect(
        events.every(({ toolName, percent = 0 }) => toolName === 'floods' && percent <= 100),
      ).toBe(true);
      countTries(context, 'batches', 1);
    });

    it.for(['x', 'é', '👩‍🚀', '\ud800'])(
      'messages of 10 MB of %j are cut',
      async (unit, context) => {
        const messages: string[] = [];
        const results = await flood(3, unit.repeat(10_000_000 / unit.length), ({ message }) =>
          messages.push(message),
        );
        expect(resultsOf(results)).toEqual(done);
        expect(messages).toHaveLength(6);
        for (const message of messages) {
          expect(message.length).toBeLessThanOrEqual(2_060);
          expect(message.isWellFormed()).toBe(true);
        }
        countTries(context, 'batches', 1);
      },
    );

    it.for<[string, () => unknown]>([
      ['throws', thrower(new Error('listener'))],
      ['throws null', thrower(null)],
      ['rejects', async () => thrower(new Error('listener'))()],
      ['gives a thenable that throws', () => ({ [String('then')]: thrower(1) })],
    ])('a listener that %s harms no call', async ([, listener], context) => {
      expect(resultsOf(await flood(10, 'm', untyped(listener)))).toEqual(done);
      countTries(context, 'batches', 1);
    });
  });
}

/** Runs a batch of slow tools, with schemas and approvals, and aborts it at a random moment. */
async function abortedBatch(create: CreateRegistry, random: Random): Promise<void> {
  const controller = new AbortController();
  const approved = new Set<string>();
  const begun: string[] = [];
  const begin = (name: string) => {
    expect(controller.signal.aborted).toBe(false);
    begun.push(name);
  };
  const registry = create({
    approve: async ({ toolCallId }) => {
      await pause(random.between(0, 4));
      if (random.between(0, 1) === 0) return false;
      approved.add(toolCallId);
      return true;
    },
  });
  const slow = async (name: string) => {
    begin(name);
    await pause(random.between(0, 4));
    return ok(name);
  };
  registry.register(toolOf('approved', (args) => slow(String(args)), { requiresApproval: true }));
  registry.register(
    toolOf('parsed', () => {}, {
      input: {
        parse: async (args) => {
          await pause(random.between(0, 4));
          return { ok: true, args };
        },
        run: (args) => slow(String(args)),
      },
    }),
  );
  registry.register(toolOf('plain', (args) => slow(String(args))));
  registry.register(
    toolOf('never', (args) => {
      begin(String(args));
      return new Promise(() => {});
    }),
  );
  const names = Array.from({ length: 40 }, () =>
    random.pick(['approved', 'parsed', 'plain', 'plain', 'never']),
  );
  const calls = names.map((name, index) => ({ toolCallId: `${index}`, name, args: `${index}` }));
  const pending = registry.executeParallel(calls, batchContext({ abortSignal: controller.signal }));
  await pause(random.between(0, 8));
  controller.abort();
  const results = await pending;
  expect(results.map(({ toolCallId }) => Number(toolCallId))).toEqual(
    calls.map((_, index) => index),
  );
  expect(new Set(begun).size).toBe(begun.length);
  for (const { toolCallId, name, result } of results) {
    if (result.ok) expect(result).toEqual(ok(toolCallId));
    else expect(['execution_failed', 'not_available']).toContain(result.code);
    if (result.ok) expect(begun).toContain(toolCallId);
    if (name === 'approved' && begun.includes(toolCallId)) expect(approved).toContain(toolCallId);
    if (name === 'never') expect(result.ok).toBe(false);
  }
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
}

function promiseWithThen(own: () => unknown): Promise<unknown> {
  return Object.defineProperty(Promise.resolve(true), 'then', { value: own });
}

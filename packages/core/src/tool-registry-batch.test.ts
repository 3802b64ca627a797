import { getEventListeners } from 'node:events';
import { truncationMarker } from '@ethosagent/policy';
import { inCheck } from '@ethosagent/test-support';
import type { FailureCause } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const CALLS = 10_000;

function manyCalls(name: string) {
  return Array.from({ length: CALLS }, (_, index) => ({
    toolCallId: `call-${index}`,
    name,
    args: { index },
  }));
}

const failed = (error: string, cause: FailureCause) => ({
  ok: false,
  code: 'execution_failed',
  error,
  cause,
});

describe('DefaultToolRegistry.executeParallel', () => {
  const caps: Array<[string, number | undefined, number]> = [
    ['1', 1, 1],
    ['7', 7, 7],
    ['the default', undefined, 32],
  ];
  // In a check, `registryAttacks` has the default.
  it.each(inCheck(caps, ([cap]) => cap === '1'))(
    'runs 10,000 calls in order of start and answer, within a cap of %s',
    async (_name, maxConcurrency, cap) => {
      let running = 0;
      let most = 0;
      const started: number[] = [];
      const registry = new DefaultToolRegistry(
        undefined,
        undefined,
        maxConcurrency === undefined ? {} : { maxConcurrency },
      );
      registry.register(
        makeTool('t', async (args) => {
          const { index } = Object(args);
          started.push(index);
          most = Math.max(most, ++running);
          // Later calls finish before their neighbours.
          for (let turn = index % 5; turn >= 0; turn--) await Promise.resolve();
          running--;
          return ok(String(index));
        }),
      );
      const results = await registry.executeParallel(manyCalls('t'), batchContext());
      const ordered = Array.from({ length: CALLS }, (_, index) => index);
      expect(results.map(({ toolCallId }) => toolCallId)).toEqual(ordered.map((i) => `call-${i}`));
      expect(results.map(({ result }) => result.ok && Number(result.value))).toEqual(ordered);
      expect(started).toEqual(ordered);
      expect(most).toBe(cap);
    },
  );

  it('answers an empty batch', async () => {
    expect(await new DefaultToolRegistry().executeParallel([], batchContext())).toEqual([]);
  });

  it('keeps call ids as they are, also when they repeat', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', (args) => ok(String(args))));
    const results = await registry.executeParallel(
      [1, 2].map((args) => ({ toolCallId: 'same', name: 't', args })),
      batchContext(),
    );
    expect(results).toEqual([
      { toolCallId: 'same', name: 't', result: ok('1') },
      { toolCallId: 'same', name: 't', result: ok('2') },
    ]);
  });
});

describe('DefaultToolRegistry options', () => {
  it.each([0, -1, Number.NaN])('refuse a limit of %s, which would limit nothing', (limit) => {
    for (const name of ['defaultTimeoutMs', 'maxConcurrency']) {
      expect(() => new DefaultToolRegistry({}, undefined, { [name]: limit })).toThrow(
        `CONFIG_INVALID: ${name} is ${limit}`,
      );
    }
  });
});

describe('DefaultToolRegistry abort', () => {
  it('when the signal fires, every one of 10,000 calls answers, and what had not begun never begins', async () => {
    const controller = new AbortController();
    let started = 0;
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('ignores', () => {
        started++;
        return new Promise(() => {});
      }),
    );
    const pending = registry.executeParallel(
      manyCalls('ignores'),
      batchContext({ abortSignal: controller.signal }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    const results = await pending;
    expect(started).toBe(32);
    expect(results).toHaveLength(CALLS);
    for (const [index, { result }] of results.entries()) {
      // Cut to 8 characters by the budget of 10,000 calls. Only a call that ran may have done something.
      const marker = truncationMarker(index < started ? 122 : 83);
      expect(result).toEqual(failed(`the turn${marker}`, 'CALL_ABORTED'));
    }
  });

  it('a signal that has fired already starts nothing', async () => {
    let started = 0;
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', () => ok(String(++started))));
    expect(await runOne(registry, 't', {}, { abortSignal: AbortSignal.abort() })).toEqual(
      failed(
        'the turn was aborted before this call ran; call it again only if it is still wanted',
        'CALL_ABORTED',
      ),
    );
    expect(started).toBe(0);
  });

  it('calls that had finished keep their results', async () => {
    const controller = new AbortController();
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('quick', () => ok('done')));
    registry.register(makeTool('slow', () => new Promise(() => {})));
    const pending = registry.executeParallel(
      ['quick', 'slow'].map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext({ abortSignal: controller.signal }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    expect((await pending).map(({ result }) => result)).toEqual([
      ok('done'),
      failed(
        'the turn was aborted while this call ran; it may have done part of its work, so check what it did before you call it again',
        'CALL_ABORTED',
      ),
    ]);
  });

  it('reaches the tool through ctx.abortSignal, with the reason', async () => {
    const controller = new AbortController();
    let seen: unknown;
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool(
        't',
        (_args, ctx) =>
          new Promise((resolve) => {
            ctx.abortSignal.addEventListener('abort', () => {
              seen = ctx.abortSignal.reason;
              resolve(ok('stopped'));
            });
          }),
      ),
    );
    const pending = runOne(registry, 't', {}, { abortSignal: controller.signal });
    controller.abort('because');
    await pending;
    expect(seen).toBe('because');
  });

  it('leaves no listener on the turn’s signal', async () => {
    const { signal } = new AbortController();
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t'));
    for (let batch = 0; batch < 100; batch++)
      await runOne(registry, 't', {}, { abortSignal: signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('an abort event that a tool made up aborts nobody', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('forger', (_args, ctx) => {
        ctx.abortSignal.dispatchEvent(new Event('abort'));
        return ok('tried');
      }),
    );
    registry.register(
      makeTool('other', () => new Promise((resolve) => setTimeout(() => resolve(ok('done')), 5))),
    );
    const results = await registry.executeParallel(
      ['other', 'forger'].map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(results.map(({ result }) => result)).toEqual([ok('done'), ok('tried')]);
  });
});

describe('DefaultToolRegistry time-outs', () => {
  it.each<[string, number | undefined, number | undefined, string]>([
    [
      'of the tool',
      20,
      60_000,
      't took longer than 20 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
    ],
    [
      'of the registry',
      undefined,
      25,
      't took longer than 25 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
    ],
    [
      'of the registry, where the tool says 0',
      0,
      25,
      't took longer than 25 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
    ],
    [
      'of the registry, where the tool says NaN',
      Number.NaN,
      25,
      't took longer than 25 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
    ],
    [
      'of the registry, where the tool says -1',
      -1,
      25,
      't took longer than 25 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
    ],
  ])('%s', async (_name, timeoutMs, defaultTimeoutMs, error) => {
    const registry = new DefaultToolRegistry(
      undefined,
      undefined,
      defaultTimeoutMs === undefined ? {} : { defaultTimeoutMs },
    );
    const rest = timeoutMs === undefined ? {} : { timeoutMs };
    registry.register(makeTool('t', () => new Promise(() => {}), rest));
    expect(await runOne(registry, 't')).toEqual(failed(error, 'CALL_TIMED_OUT'));
  });

  it.each([
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a month', 2_678_400_000],
  ])('of %s do not fire at once', async (_name, timeoutMs) => {
    const registry = new DefaultToolRegistry();
    const slow = () => new Promise((resolve) => setTimeout(() => resolve(ok('done')), 10));
    registry.register(makeTool('t', slow, { timeoutMs }));
    expect(await runOne(registry, 't')).toEqual(ok('done'));
  });

  it('each call of a batch has its own', async () => {
    const registry = new DefaultToolRegistry();
    const names = ['t40', 't10', 't70'];
    for (const name of names) {
      registry.register(
        makeTool(name, () => new Promise(() => {}), { timeoutMs: Number(name.slice(1)) }),
      );
    }
    const results = await registry.executeParallel(
      names.map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(results.map(({ result }) => result)).toEqual(
      names.map((name) =>
        failed(
          `${name} took longer than ${name.slice(1)} ms and was stopped; it may have done part of its work, so check what it did before you call it again`,
          'CALL_TIMED_OUT',
        ),
      ),
    );
  });
});

describe('DefaultToolRegistry.executeParallel, many listeners', () => {
  it('draws no warning of a leak from calls that listen for the abort', async () => {
    const warnings: string[] = [];
    const hear = ({ name }: Error) => warnings.push(name);
    process.on('warning', hear);
    const registry = new DefaultToolRegistry({});
    registry.register(
      makeTool(
        'listen',
        async (_args, { abortSignal, scopedProcess }) => {
          abortSignal.addEventListener('abort', () => {});
          await Promise.all([1, 2].map(() => scopedProcess?.spawn('true', [])));
          return ok('');
        },
        { capabilities: { process: { allowedBinaries: ['true'] } } },
      ),
    );
    const calls = Array.from({ length: 12 }, (_, index) => ({
      toolCallId: `${index}`,
      name: 'listen',
      args: {},
    }));
    await registry.executeParallel(calls, batchContext());
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});

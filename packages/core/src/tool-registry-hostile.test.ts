import type { ToolContext, ToolProgressEvent, ToolResult } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const failed = (error: unknown) => ({ ok: false, code: 'execution_failed', error });

function thrower(thrown: unknown) {
  return () => {
    throw thrown;
  };
}

const UNSPEAKABLE = {
  toString() {
    throw new Error('no');
  },
};

const hostileProxy = new Proxy(
  {},
  {
    get: thrower(new Error('trap')),
    has: thrower(new Error('trap')),
    getPrototypeOf: thrower(new Error('trap')),
    ownKeys: thrower(new Error('trap')),
  },
);

function promiseWithOwnThen(own: () => unknown): Promise<unknown> {
  return Object.assign(Promise.resolve(), { [String('then')]: own });
}

/** What a tool does, and what its call answers. */
const HOSTILE: Array<[string, (args: unknown, ctx: ToolContext) => unknown, unknown]> = [
  ['throws an Error', thrower(new Error('broken')), failed('broken')],
  ['throws a string', thrower('broken'), failed('broken')],
  ['throws null', thrower(null), failed('the tool threw null')],
  ['throws undefined', thrower(undefined), failed('the tool threw undefined')],
  [
    'throws an object whose toString throws',
    thrower(UNSPEAKABLE),
    failed('the tool threw a value that can not be described'),
  ],
  [
    'throws a Proxy that throws',
    thrower(hostileProxy),
    failed('the tool threw a value that can not be described'),
  ],
  ['rejects with a number', () => Promise.reject(7), failed('7')],
  ['rejects with nothing', () => Promise.reject(), failed('the tool threw undefined')],
  [
    'returns undefined',
    () => undefined,
    failed('the tool returned undefined and not a ToolResult'),
  ],
  ['returns null', () => null, failed('the tool returned null and not a ToolResult')],
  [
    'returns a number',
    () => 7,
    failed('the tool returned a value of type number and not a ToolResult'),
  ],
  [
    'returns a string',
    () => 'done',
    failed('the tool returned a value of type string and not a ToolResult'),
  ],
  ['returns an array', () => [ok('x')], failed('the tool returned an array and not a ToolResult')],
  [
    'returns a function',
    () => () => ok('x'),
    failed('the tool returned a value of type function and not a ToolResult'),
  ],
  ['returns a Proxy that throws', () => hostileProxy, failed(expect.stringContaining('trap'))],
  [
    'returns a getter that throws',
    () => ({
      ok: true,
      get value(): string {
        throw new Error('gotcha');
      },
    }),
    failed('the tool returned a result that can not be read: gotcha'),
  ],
  [
    'returns a value that is not a string',
    () => ({ ok: true, value: { a: 1 } }),
    failed(expect.stringContaining('a value of type object, not a string')),
  ],
  [
    'returns a thenable that never settles',
    () => Object.fromEntries([['then', () => {}]]),
    failed('bad took longer than 50 ms'),
  ],
  [
    'returns a thenable whose then throws',
    () => Object.fromEntries([['then', thrower(new Error('then'))]]),
    failed('then'),
  ],
  [
    'returns a promise whose own then throws',
    () => promiseWithOwnThen(thrower(new Error('own then'))),
    failed('own then'),
  ],
  [
    'returns a promise whose own then does nothing',
    () => promiseWithOwnThen(() => undefined),
    failed('bad took longer than 50 ms'),
  ],
  ['returns a nonsense code', () => ({ ok: false, error: 'e', code: '__proto__' }), failed('e')],
  [
    'returns an error of 10 MB',
    () => ({ ok: false, error: 'e'.repeat(10_000_000), code: 'input_invalid' }),
    {
      ok: false,
      code: 'input_invalid',
      error: `${'e'.repeat(40_000)}\n[truncated -- 10000000 chars total]`,
    },
  ],
  [
    'returns cyclic structured',
    () => {
      const structured: Record<string, unknown> = {};
      structured.self = structured;
      return { ok: true, value: 'v', structured };
    },
    failed(expect.stringContaining('or cyclic')),
  ],
  ['never settles', () => new Promise(() => {}), failed('bad took longer than 50 ms')],
  [
    'tampers with its context and arguments',
    (args, ctx) => {
      Object.assign(ctx, { sessionId: 'forged', emit: thrower(1), resultBudgetChars: 1e9 });
      Object.assign(Object(args), { forged: true });
      Reflect.setPrototypeOf(ctx, null);
      return ok('tampered');
    },
    ok('tampered'),
  ],
  [
    'emits nonsense',
    (_args, ctx) => {
      const emit = (event: unknown) => Reflect.apply(ctx.emit, ctx, [untyped(event)]);
      for (const event of [undefined, null, 7, {}, { message: 7 }, hostileProxy]) emit(event);
      return ok('emitted');
    },
    ok('emitted'),
  ],
];

describe('DefaultToolRegistry, one hostile tool among honest ones', () => {
  it.each(HOSTILE)('a tool that %s harms only its own call', async (_name, execute, expected) => {
    const events: ToolProgressEvent[] = [];
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('bad', execute, { timeoutMs: 50 }));
    registry.register(
      makeTool('good', (args, ctx) => {
        ctx.emit({ type: 'progress', toolName: 'good', message: 'here' });
        return ok(`${ctx.sessionId} ${ctx.resultBudgetChars} ${JSON.stringify(args)}`);
      }),
    );
    const shared = { n: 1 };
    const results = await registry.executeParallel(
      [
        { toolCallId: '1', name: 'bad', args: shared },
        { toolCallId: '2', name: 'good', args: shared },
      ],
      batchContext({ emit: (event) => events.push(event) }),
    );
    expect(results).toEqual([
      { toolCallId: '1', name: 'bad', result: expected },
      { toolCallId: '2', name: 'good', result: ok('session-1 40000 {"n":1}') },
    ]);
    expect(events).toEqual([
      { type: 'progress', toolName: 'good', message: 'here', audience: 'internal' },
    ]);
    expect(shared).toEqual({ n: 1 });
  });

  it('a result that the tool caches and changes later is not changed', async () => {
    const cached = { ok: true, value: 'v', structured: { rows: [1] } } satisfies ToolResult;
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', () => cached));
    const result = await runOne(registry, 't');
    cached.value = 'changed';
    cached.structured.rows.push(2);
    expect(result).toEqual({ ok: true, value: 'v', structured: { rows: [1] } });
  });

  it('a result that the host changes does not change what the tool caches', async () => {
    const cached = { ok: true, value: 'v', structured: { rows: [1] } } satisfies ToolResult;
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', () => cached));
    Object.assign(await runOne(registry, 't'), { value: 'changed' });
    expect(await runOne(registry, 't')).toEqual({
      ok: true,
      value: 'v',
      structured: { rows: [1] },
    });
  });

  it('delivers a flood of events in order while the call lasts, and none after it', async () => {
    const events: ToolProgressEvent[] = [];
    const registry = new DefaultToolRegistry();
    let kept: ToolContext | undefined;
    registry.register(
      makeTool('flood', (_args, ctx) => {
        kept = ctx;
        for (let percent = 0; percent < 10_000; percent++) {
          ctx.emit({
            type: 'progress',
            toolName: 'forged',
            message: 'm',
            percent,
            audience: 'user',
          });
        }
        return ok('done');
      }),
    );
    await runOne(registry, 'flood', {}, { emit: (event) => events.push(event) });
    kept?.emit({ type: 'progress', toolName: 'flood', message: 'late' });
    expect(events).toHaveLength(10_000);
    expect(events[50]).toEqual({
      type: 'progress',
      toolName: 'flood',
      message: 'm',
      percent: 50,
      audience: 'user',
    });
    expect(events.at(-1)?.percent).toBe(100);
  });

  it('a listener that throws is not the tool’s problem', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('t', (_args, ctx) => {
        ctx.emit({ type: 'progress', toolName: 't', message: 'm' });
        return ok('done');
      }),
    );
    expect(await runOne(registry, 't', {}, { emit: thrower(new Error('listener')) })).toEqual(
      ok('done'),
    );
  });
});

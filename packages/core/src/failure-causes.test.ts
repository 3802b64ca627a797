import {
  CapabilityError,
  ERROR_CODES,
  EthosError,
  errorBehind,
  type FailureCause,
  type ToolResult,
  withErrorBehind,
} from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import type { ToolRegistryOptions } from './batch/batch.js';
import type { CallError } from './call-hooks.js';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
import { DefaultToolRegistry } from './tool-registry.js';

const never = () => new Promise(() => {});
const fails = (cause: unknown) => ({ ok: false, error: 'e', code: 'execution_failed', cause });

function watched(backends?: CapabilityBackends, options: ToolRegistryOptions = {}) {
  const told: CallError[] = [];
  const reducers = new DefaultToolResultReducerRegistry();
  const registry = new DefaultToolRegistry(backends, reducers, {
    ...options,
    onError: (failed) => void told.push(failed),
  });
  return { registry, reducers, told };
}

/** The ways in which the framework makes a call fail, in a registry whose only tool is `t`. */
const EXITS: Record<string, { cause: FailureCause; run: () => Promise<ToolResult> }> = {
  'an unknown tool': {
    cause: 'TOOL_NOT_FOUND',
    run: () => runOne(new DefaultToolRegistry(), 't'),
  },
  'a call that is no object': {
    cause: 'INPUT_INVALID',
    run: async () => {
      const [first] = await new DefaultToolRegistry().executeParallel(
        untyped([null]),
        batchContext(),
      );
      return first?.result ?? ok('');
    },
  },
  'arguments that are refused': {
    cause: 'INPUT_INVALID',
    run: () =>
      one({ input: { parse: () => ({ ok: false, error: 'x' }), run: async () => ok('') } }),
  },
  'arguments that can not be copied': { cause: 'INPUT_INVALID', run: () => one({}, {}, () => {}) },
  'a tool that is not there': {
    cause: 'TOOL_UNAVAILABLE',
    run: () => one({ isAvailable: () => false }),
  },
  'no backends': {
    cause: 'TOOL_UNAVAILABLE',
    run: () => one({ capabilities: { secrets: ['a'] } }),
  },
  'nobody who approves': { cause: 'NOT_APPROVED', run: () => one({ requiresApproval: true }) },
  'a time-out': {
    cause: 'CALL_TIMED_OUT',
    run: () => one({ timeoutMs: 5, execute: untyped(never) }),
  },
  'a time-out of the arguments': {
    cause: 'CALL_TIMED_OUT',
    run: () => one({ timeoutMs: 5, input: { parse: untyped(never), run: async () => ok('') } }),
  },
  'an abort while it runs': {
    cause: 'CALL_ABORTED',
    run: () => whileRunning((controller) => controller.abort()),
  },
  'a time-out of the turn while it runs': {
    cause: 'CALL_TIMED_OUT',
    run: () => whileRunning((controller) => controller.abort(new DOMException('', 'TimeoutError'))),
  },
  'an abort before it runs': {
    cause: 'CALL_ABORTED',
    run: () => one({}, { abortSignal: AbortSignal.abort() }),
  },
  'a time-out of the turn before it runs': {
    cause: 'CALL_TIMED_OUT',
    run: () => one({}, { abortSignal: AbortSignal.abort(new DOMException('', 'TimeoutError')) }),
  },
  'an abort while it waits for approval': {
    cause: 'CALL_ABORTED',
    run: () => whileApproved((controller) => controller.abort('why')),
  },
  'a time-out of the turn while it waits for approval': {
    cause: 'CALL_TIMED_OUT',
    run: () =>
      whileApproved((controller) => controller.abort(new DOMException('', 'TimeoutError'))),
  },
  'an invalid result': { cause: 'TOOL_INVALID', run: () => one({ execute: untyped(() => 7) }) },
};

function one(rest: Parameters<typeof makeTool>[2], ctx = {}, args: unknown = {}) {
  const registry = new DefaultToolRegistry();
  registry.register(makeTool('t', undefined, rest));
  return runOne(registry, 't', args, ctx);
}

function whileRunning(stop: (controller: AbortController) => void): Promise<ToolResult> {
  const controller = new AbortController();
  const execute = () => {
    queueMicrotask(() => stop(controller));
    return never();
  };
  return one({ execute: untyped(execute) }, { abortSignal: controller.signal });
}

function whileApproved(stop: (controller: AbortController) => void): Promise<ToolResult> {
  const controller = new AbortController();
  const approve = () => {
    queueMicrotask(() => stop(controller));
    return untyped(never());
  };
  const registry = new DefaultToolRegistry({ approve });
  registry.register(makeTool('t', undefined, { requiresApproval: true }));
  return runOne(registry, 't', {}, { abortSignal: controller.signal });
}

describe('the cause of a failed result', () => {
  it.each(Object.entries(EXITS))('of %s is told by its code', async (_what, { cause, run }) => {
    expect(await run()).toMatchObject({ ok: false, cause });
  });

  it.each(['HOST_NOT_ALLOWED', 'STORE_UNAVAILABLE', 'CALL_TIMED_OUT', 'MODEL_FAILED'] as const)(
    'of a thrown %s is that code',
    async (code) => {
      const { registry } = watched();
      registry.register(makeTool('t', () => Promise.reject(new EthosError(code, 'x'))));
      expect(await runOne(registry, 't')).toEqual({
        ok: false,
        code: 'execution_failed',
        error: `${code}: x`,
        cause: code,
      });
    },
  );

  it.each<[string, unknown]>([
    ['a plain error', new Error('x')],
    ['a text', 'x'],
    ['nothing', undefined],
    ['a code of the system', Object.assign(new Error('x'), { code: 'ENOENT' })],
    ['a code of no table', Object.assign(new Error('x'), { code: '__proto__' })],
    [
      'an error that can not be read',
      new Proxy(new Error('x'), {
        has() {
          throw new Error('trap');
        },
      }),
    ],
  ])('of %s is none: the tool failed by itself', async (_what, thrown) => {
    const { registry, told } = watched();
    registry.register(makeTool('t', () => Promise.reject(thrown)));
    expect(Object.keys(await runOne(registry, 't')).sort()).toEqual(['code', 'error', 'ok']);
    expect(told).toHaveLength(1);
    expect(Object.is(told[0]?.error, thrown)).toBe(true);
  });

  const FRAMEWORKS = [
    'CALL_ABORTED',
    'CALL_INTERRUPTED',
    'TURN_LIMIT',
    'TOOL_NOT_FOUND',
    'TOOL_NOT_ALLOWED',
    'NOT_APPROVED',
  ] as const satisfies readonly FailureCause[];

  it.each(Object.keys(ERROR_CODES))(
    '%s, said by a tool, by a thrown error and a reducer',
    async (code) => {
      const isFrameworks = FRAMEWORKS.some((one) => one === code);
      const { registry, reducers } = watched();
      registry.register(makeTool('says', () => fails(code)));
      registry.register(
        makeTool('throws', () => Promise.reject(new EthosError(untyped(code), 'x'))),
      );
      registry.register(makeTool('reduced', () => fails(undefined)));
      reducers.register({ toolName: 'reduced', reduce: () => untyped(fails(code)) });
      for (const name of ['says', 'throws']) {
        const result = await runOne(registry, name);
        expect(Reflect.get(result, 'cause')).toBe(isFrameworks ? undefined : code);
      }
      expect(Object.hasOwn(await runOne(registry, 'reduced'), 'cause')).toBe(false);
    },
  );

  it.each([7, null, {}, 'x', '__proto__', 'toString'])(
    '%j, said by a tool, is none',
    async (said) => {
      const { registry } = watched();
      registry.register(makeTool('t', () => fails(said)));
      expect(Object.hasOwn(await runOne(registry, 't'), 'cause')).toBe(false);
    },
  );
});

describe('onError', () => {
  it('is told of what a tool threw, itself, and whose call it was; the model is told its message', async () => {
    const { registry, told } = watched();
    const error = new TypeError('boom', { cause: new Error('deeper') });
    registry.register(makeTool('t', () => Promise.reject(error)));
    const result = await runOne(registry, 't', {}, { personalityId: 'p' });
    expect(result).toEqual({ ok: false, code: 'execution_failed', error: 'boom' });
    expect(told).toEqual([
      {
        toolCallId: 'call-1',
        toolName: 't',
        sessionId: 'session-1',
        personalityId: 'p',
        code: 'execution_failed',
        error,
      },
    ]);
    expect(told[0]?.error).toBe(error);
  });

  it('is told of what a backend threw, behind what the accessor says of it', async () => {
    const thrown = new Error('vault at /srv/vault has hunter2');
    const { registry, told } = watched({ secretsBackend: () => Promise.reject(thrown) });
    registry.register(
      makeTool('t', async (_, ctx) => ok(`${await ctx.secretsResolver?.get('a')}`), {
        capabilities: { secrets: ['a'] },
      }),
    );
    const result = await runOne(registry, 't');
    expect(result).toMatchObject({ ok: false, cause: 'SECRETS_UNAVAILABLE' });
    expect(JSON.stringify(result)).not.toMatch(/vault|hunter2/);
    expect(told).toMatchObject([{ cause: 'SECRETS_UNAVAILABLE', error: { cause: thrown } }]);
  });

  it('is told of what lies behind a result that the tool made of it, and nobody else is', async () => {
    const { registry, told } = watched();
    const error = new CapabilityError('HOST_NOT_ALLOWED', 'x', 'deny list: *');
    registry.register(
      makeTool('t', () => withErrorBehind(untyped(fails('HOST_NOT_ALLOWED')), error)),
    );
    const result = await runOne(registry, 't');
    expect(told.map((failed) => failed.error)).toEqual([error]);
    expect(errorBehind(result)).toBeUndefined();
    expect(Reflect.ownKeys(result).sort()).toEqual(['cause', 'code', 'error', 'ok']);
  });

  it.each<[string, Partial<Parameters<typeof makeTool>[2]> & object, CapabilityBackends?]>([
    ['isAvailable', { isAvailable: () => thrower() }],
    ['the schema', { input: { parse: () => thrower(), run: async () => ok('') } }],
    ['the approval', { requiresApproval: true }, { approve: () => thrower() }],
    ['the tool at once', { execute: () => thrower() }],
  ])('is told of what %s threw', async (_what, rest, backends) => {
    const { registry, told } = watched(backends);
    registry.register(makeTool('t', undefined, rest));
    expect(await runOne(registry, 't')).toMatchObject({ ok: false });
    expect(told).toMatchObject([{ toolName: 't', error: FAULT }]);
  });

  it('is told why a call was stopped, and not of calls that worked or were refused', async () => {
    const { registry, told } = watched();
    registry.register(makeTool('slow', never, { timeoutMs: 5 }));
    registry.register(makeTool('fine'));
    await runOne(registry, 'slow');
    await runOne(registry, 'fine');
    await runOne(registry, 'missing');
    expect(told).toMatchObject([{ cause: 'CALL_TIMED_OUT', error: { name: 'TimeoutError' } }]);
  });

  it.each<[string, () => unknown]>([
    ['throws', () => thrower()],
    ['rejects', () => Promise.reject(FAULT)],
    ['never settles', never],
    [
      'gives a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: what is tested
        get then() {
          return thrower();
        },
      }),
    ],
  ])('that %s harms nothing', async (_what, hook) => {
    let calls = 0;
    const registry = new DefaultToolRegistry(undefined, undefined, {
      onError: () => {
        calls += 1;
        return untyped(hook());
      },
    });
    registry.register(makeTool('bad', () => thrower()));
    registry.register(makeTool('good'));
    const results = await registry.executeParallel(
      ['bad', 'good', 'bad'].map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(results.map(({ result }) => result.ok)).toEqual([false, true, false]);
    expect(calls).toBe(2);
  });

  it('that is no function is refused', () => {
    expect(() => new DefaultToolRegistry(undefined, undefined, { onError: untyped(7) })).toThrow(
      /^CONFIG_INVALID: onError/,
    );
  });
});

const FAULT = new Error('a fault');

function thrower(): never {
  throw FAULT;
}

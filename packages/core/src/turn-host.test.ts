import { MemoryAuditSink } from '@ethosagent/audit';
import type {
  AnyTool,
  DelegatedTask,
  DelegationCaller,
  DelegationInfo,
  DelegationProvider,
  QuarantinedRead,
  ToolCall,
  ToolCallResult,
} from '@ethosagent/types';
import { errorCodeOf } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import { batchContext, makeTool } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';
import type { TurnHost } from './turn-host.js';

const tool = (name: string, rest: Partial<AnyTool> = {}): AnyTool =>
  makeTool(name, () => ({ ok: true, value: `${name} ran` }), rest);

const call = (name: string, toolCallId = name): ToolCall => ({ toolCallId, name, args: { a: 1 } });

async function runOne(
  entry: AnyTool,
  host: TurnHost,
  backends: CapabilityBackends = {},
): Promise<ToolCallResult['result'] | undefined> {
  const registry = new DefaultToolRegistry(backends);
  registry.register(entry);
  const [answer] = await registry.executeParallel(
    [call(entry.name)],
    batchContext(),
    undefined,
    undefined,
    undefined,
    host,
  );
  return answer?.result;
}

describe('TurnHost.gate', () => {
  it.each<[name: string, host: TurnHost, answer: string]>([
    ['says nothing: it runs', { gate: () => undefined }, 'x ran'],
    ['refuses', { gate: () => ({ refuse: 'not now' }) }, 'not now'],
    [
      'asks, and there is nobody',
      { gate: () => ({ ask: 'why' }) },
      'x needs approval, and no approval callback is configured, so it did not run; go on without it, and tell the user',
    ],
    ['asks, and it is approved', { gate: () => ({ ask: 'why' }), approve: () => true }, 'x ran'],
    [
      'asks, and it is refused',
      { gate: () => ({ ask: 'why' }), approve: () => false },
      'x needs approval, and it was refused',
    ],
    [
      'throws',
      {
        gate: () => {
          throw new Error('broken');
        },
        approve: () => true,
      },
      'the turn could not decide whether the call may run (broken), so it did not run; go on without it, and tell the user',
    ],
    [
      'says what is no gate',
      Object({ gate: () => ({ allow: true }), approve: () => true }),
      'the turn could not decide whether the call may run, so it did not run; go on without it, and tell the user',
    ],
    [
      'returns a promise',
      Object({ gate: async () => undefined, approve: () => true }),
      'the turn could not decide whether the call may run, so it did not run; go on without it, and tell the user',
    ],
  ])('%s', async (_, host, answer) => {
    const result = await runOne(tool('x'), host);
    expect(result?.ok ? result.value : result?.error).toBe(answer);
  });

  it('is shown the tool that will run, not the one that has its name by then', async () => {
    const registry = new DefaultToolRegistry();
    const ran: string[] = [];
    const named = (who: string, rest: Partial<AnyTool> = {}) =>
      tool('x', {
        description: who,
        execute: async () => {
          ran.push(who);
          return { ok: true, value: '' };
        },
        ...rest,
      });
    const swapping = {
      parse: async (args: unknown) => {
        registry.register(named('second'));
        return { ok: true as const, args };
      },
      run: async () => {
        ran.push('first');
        return { ok: true as const, value: '' };
      },
    };
    registry.register(named('first', { input: swapping }));
    const seen: string[] = [];
    const gate: TurnHost['gate'] = ({ tool: { description } }) => {
      seen.push(description);
      return undefined;
    };
    const ctx = batchContext();
    await registry.executeParallel([call('x')], ctx, undefined, undefined, undefined, { gate });
    expect(seen).toEqual(ran);
  });

  it('adds its reason to that of the tool, and is asked once for both', async () => {
    const reasons: string[] = [];
    const approve: TurnHost['approve'] = ({ reason }) => {
      reasons.push(reason);
      return true;
    };
    const gate = () => ({ ask: 'the turn asks' });
    await runOne(tool('x', { requiresApproval: () => 'the tool asks' }), { gate, approve });
    await runOne(tool('x', { requiresApproval: async () => 'the tool asks' }), { gate, approve });
    await runOne(tool('x', { requiresApproval: async () => false }), { gate, approve });
    expect(reasons).toEqual([
      'the turn asks; the tool asks',
      'the turn asks; the tool asks',
      'the turn asks',
    ]);
  });

  it('stands behind the filters, and before a dry run does not', async () => {
    const asked: string[] = [];
    const gate = ({ name }: { name: string }) => {
      asked.push(name);
      return undefined;
    };
    const registry = new DefaultToolRegistry();
    registry.registerAll([tool('in'), tool('out')]);
    const calls = [call('in'), call('out'), call('none')];
    await registry.executeParallel(calls, batchContext(), ['in'], undefined, undefined, { gate });
    expect(asked).toEqual(['in']);
  });
});

describe('TurnHost.approve', () => {
  it('stands in for the approval callback of the backends, for its batch alone', async () => {
    const registry = new DefaultToolRegistry({ approve: () => true });
    registry.register(tool('x', { requiresApproval: true }));
    const host: TurnHost = { approve: () => ({ approved: false, reason: 'by the turn' }) };
    const run = (turn?: TurnHost) =>
      registry.executeParallel([call('x')], batchContext(), undefined, undefined, undefined, turn);
    const [[own], [other]] = await Promise.all([run(host), run()]);
    expect(own?.result).toMatchObject({ ok: false, code: 'not_available' });
    expect(other?.result).toMatchObject({ ok: true });
  });

  it('is shown what the personality sets for the tool, frozen', async () => {
    const shown: unknown[] = [];
    const settings = {
      schema: {},
      parse: (value: unknown) => ({ ok: true as const, settings: { limit: 3, given: value } }),
    };
    await runOne(
      tool('x', { requiresApproval: true, settings }),
      {
        approve: (request) => {
          shown.push(request.settings);
          return true;
        },
      },
      { personalityToolSettings: () => ({ a: 1 }) },
    );
    expect(shown).toEqual([{ limit: 3, given: { a: 1 } }]);
    expect(Object.isFrozen(shown[0])).toBe(true);
  });
});

describe('what was approved', () => {
  const reads = (more: Partial<AnyTool> = {}): AnyTool =>
    tool('x', {
      requiresApproval: true,
      capabilities: { fs_reach: { read: 'from-personality' } },
      ...more,
    });

  it.each<[when: string, when: 'approve' | 'beforeRun']>([
    ['while it was asked', 'approve'],
    ['after the yes, while it was recorded', 'beforeRun'],
  ])('does not run with another reach that it got %s', async (_, when) => {
    let read = ['/a'];
    const widen = () => {
      read = ['/b'];
    };
    const result = await runOne(
      reads(),
      {
        approve: () => {
          if (when === 'approve') widen();
          return true;
        },
        beforeRun: () => {
          if (when === 'beforeRun') widen();
        },
      },
      { personalityFsReach: () => ({ read, write: [] }) },
    );
    expect(result).toEqual({
      ok: false,
      code: 'not_available',
      error:
        'x needs approval, and what it may do changed while it waited, so it did not run; call it again to ask again',
      cause: 'NOT_APPROVED',
    });
  });

  it('does not run as another tool that has taken its name after the yes', async () => {
    const registry = new DefaultToolRegistry();
    const ran: string[] = [];
    const named = (who: string) =>
      tool('x', {
        requiresApproval: true,
        execute: async () => {
          ran.push(who);
          return { ok: true, value: '' };
        },
      });
    registry.register(named('first'));
    const host: TurnHost = {
      approve: () => true,
      beforeRun: () => registry.register(named('second')),
    };
    const ctx = batchContext();
    await registry.executeParallel([call('x')], ctx, undefined, undefined, undefined, host);
    expect(ran).toEqual([]);
  });

  it('does not run when its reach can not be told any more, and holds up no other', async () => {
    let isRecorded = false;
    const registry = new DefaultToolRegistry({
      personalityFsReach: () => {
        if (isRecorded) throw new Error('the disk is gone');
        return { read: ['/a'], write: [] };
      },
    });
    registry.registerAll([reads(), tool('y')]);
    const host: TurnHost = {
      approve: () => true,
      beforeRun: ({ name }) => {
        isRecorded ||= name === 'x';
      },
    };
    const results = await registry.executeParallel(
      [call('x'), call('y')],
      batchContext(),
      undefined,
      undefined,
      undefined,
      host,
    );
    expect(results.map(({ result }) => result.ok)).toEqual([false, true]);
  });

  it.each([
    ['the same', { a: 1 }, true],
    ['other', { a: 2 }, false],
  ])(
    'runs with settings that are no plain data, where the operator says %s',
    async (_, says, ok) => {
      let said: object = { a: 1 };
      const settings = {
        schema: {},
        // New for each call, as are functions and classes that a schema creates.
        parse: () => ({ ok: true as const, settings: { matches: () => true } }),
      };
      const result = await runOne(
        tool('x', { requiresApproval: true, settings }),
        {
          approve: () => {
            said = says;
            return true;
          },
        },
        { personalityToolSettings: () => ({ ...said }) },
      );
      expect(result?.ok).toBe(ok);
    },
  );

  it('gives its place to the next call when it may not run any more', async () => {
    let read = ['/a'];
    const registry = new DefaultToolRegistry(
      { personalityFsReach: () => ({ read, write: [] }) },
      undefined,
      { maxConcurrency: 1 },
    );
    registry.registerAll([reads(), tool('y')]);
    const host: TurnHost = {
      approve: () => true,
      beforeRun: () => {
        read = [...read, '/b'];
      },
    };
    const calls = [call('x', '1'), call('x', '2'), call('y', '3')];
    const results = await registry.executeParallel(
      calls,
      batchContext(),
      undefined,
      undefined,
      undefined,
      host,
    );
    expect(results.map(({ result }) => result.ok)).toEqual([false, false, true]);
  });
});

describe('TurnHost.beforeRun', () => {
  it('is waited for, after the approval and before the tool', async () => {
    const order: string[] = [];
    await runOne(
      tool('x', {
        requiresApproval: true,
        execute: async () => {
          order.push('tool');
          return { ok: true, value: '' };
        },
      }),
      {
        approve: () => order.push('approval') > 0,
        beforeRun: async ({ name, args, toolCallId }) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          order.push(`${toolCallId} ${name} ${JSON.stringify(args)}`);
        },
      },
    );
    expect(order).toEqual(['approval', 'x x {"a":1}', 'tool']);
  });

  it.each<[name: string, beforeRun: NonNullable<TurnHost['beforeRun']>]>([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('keeps the tool from running when it %s', async (_, beforeRun) => {
    let runs = 0;
    const entry = tool('x', {
      execute: async () => {
        runs += 1;
        return { ok: true, value: '' };
      },
    });
    const result = await runOne(entry, { beforeRun });
    expect(result).toEqual({
      ok: false,
      code: 'execution_failed',
      error: 'the call did not run, since it could not be recorded: disk full',
      cause: 'AUDIT_FAILED',
    });
    expect(runs).toBe(0);
  });

  it('is not told of what does not run', async () => {
    const told: string[] = [];
    const host: TurnHost = {
      beforeRun: ({ name }) => {
        told.push(name);
      },
      approve: () => false,
    };
    const registry = new DefaultToolRegistry();
    registry.registerAll([
      tool('refused', { requiresApproval: true }),
      tool('closed', { isAvailable: () => false }),
      tool('open'),
    ]);
    const calls = ['refused', 'closed', 'missing', 'open'].map((name) => call(name));
    const ctx = batchContext();
    await registry.executeParallel(calls, ctx, undefined, undefined, undefined, host);
    expect(told).toEqual(['open']);
  });

  it('that never settles does not hang an aborted turn', async () => {
    const controller = new AbortController();
    const registry = new DefaultToolRegistry();
    let runs = 0;
    registry.register(
      tool('x', {
        execute: async () => {
          runs += 1;
          return { ok: true, value: '' };
        },
      }),
    );
    const running = registry.executeParallel(
      [call('x')],
      { ...batchContext(), abortSignal: controller.signal },
      undefined,
      undefined,
      undefined,
      { beforeRun: () => new Promise(() => {}) },
    );
    controller.abort();
    expect((await running)[0]?.result).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(runs).toBe(0);
  });
});

describe('TurnHost.onResult', () => {
  it('is told of each result when it is there, refusals too', async () => {
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const registry = new DefaultToolRegistry();
    registry.registerAll([
      tool('slow', {
        execute: async () => {
          await slow;
          return { ok: true, value: 'slow' };
        },
      }),
      tool('fast'),
    ]);
    const told: string[] = [];
    const onResult = ({ toolCallId, result }: ToolCallResult) => {
      told.push(`${toolCallId} ${result.ok}`);
      if (toolCallId === 'fast') release();
      throw new Error('a listener that fails');
    };
    const calls = [call('slow'), call('fast'), call('missing')];
    const results = await registry.executeParallel(
      calls,
      batchContext(),
      undefined,
      undefined,
      undefined,
      { onResult },
    );
    expect(told.at(-1)).toBe('slow true');
    expect(told.sort()).toEqual(['fast true', 'missing false', 'slow true']);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['slow', 'fast', 'missing']);
  });
});

describe('TurnHost.onProgress', () => {
  it('is told of the call beside the event, and emit of the event as it is documented', async () => {
    const told: unknown[] = [];
    const emitted: unknown[] = [];
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('x', (_, { emit }) => {
        emit({ type: 'progress', toolName: 'x', message: 'half', audience: 'user' });
        return { ok: true, value: '' };
      }),
    );
    const ctx = { ...batchContext(), emit: (event: unknown) => emitted.push(event) };
    await registry.executeParallel(
      [call('x', 'one'), call('x', 'two')],
      ctx,
      undefined,
      undefined,
      undefined,
      {
        onProgress: (event, toolCallId) => {
          told.push([event.message, toolCallId]);
        },
      },
    );
    const event = { type: 'progress', toolName: 'x', message: 'half', audience: 'user' };
    expect(told).toEqual([
      ['half', 'one'],
      ['half', 'two'],
    ]);
    expect(emitted).toEqual([event, event]);
  });

  it('is told what a person would see, and so is emit', async () => {
    const told: string[] = [];
    const emitted: string[] = [];
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('x', (_, { emit }) => {
        for (const message of [
          '\u001b]0;root@bank\u0007\u001b[31mred\u001b[0m',
          '\u001b[2J\u001b[1;1Happrove? yes',
          'rm x\rls\u0008\u0008',
          'a\u202eb\u200bc\ud800',
          'two\r\nlines\tand 👩‍🚀',
        ]) {
          emit({ type: 'progress', toolName: 'x', message, audience: 'user' });
        }
        return { ok: true, value: '' };
      }),
    );
    await registry.executeParallel(
      [call('x')],
      { ...batchContext(), emit: ({ message }) => emitted.push(message) },
      undefined,
      undefined,
      undefined,
      { onProgress: ({ message }) => void told.push(message) },
    );
    expect(told).toEqual(['red', 'approve? yes', 'rm x\nls', 'abc\ufffd', 'two\nlines\tand 👩‍🚀']);
    expect(emitted).toEqual(told);
  });
});

describe('TurnHost.delegation', () => {
  const info: DelegationInfo = {
    id: 't1',
    state: 'done',
    prompt: 'p',
    startedAt: 0,
    steps: 1,
    calls: 0,
    costUsd: 0,
    untrusted: true,
    result: 'r',
  };

  class Provider implements DelegationProvider {
    readonly callers: DelegationCaller[] = [];
    run = this.#told(info);
    start = this.#told(info);
    list = this.#told([info]);
    get = this.#told(info);
    cancel = this.#told(info);

    #told<T>(answer: T) {
      return async (caller: DelegationCaller): Promise<T> => {
        this.callers.push(caller);
        return answer;
      };
    }
  }

  const task: DelegatedTask = { prompt: 'count the files' };

  it.each<['run' | 'start' | 'get' | 'cancel', unknown[], string]>([
    ['run', [], 'a task: give an object with prompt, personality, tools, maxSteps, timeoutMs'],
    ['start', ['count'], 'a task: give an object with prompt'],
    ['run', [Promise.resolve({ prompt: 'p' })], 'a task: give an object with prompt'],
    ['run', [{}], 'a task needs a prompt'],
    ['run', [{ prompt: 1 }], 'a task: prompt must be a text'],
    ['start', [{ prompt: 'p', tool: ['x'] }], 'a task: there is no option "tool"; did you mean'],
    ['run', [{ prompt: 'p', tools: 'x' }], 'a task: tools must be a list of names of tools'],
    ['run', [{ prompt: 'p', maxSteps: '3' }], 'a task: maxSteps must be a number above zero'],
    ['run', [{ prompt: 'p', timeoutMs: Number.NaN }], 'a task: timeoutMs must be milliseconds'],
    ['get', [1], 'the id of a task must be a text'],
    ['get', ['t1', { waitMs: '5' }], 'get: waitMs must be milliseconds from zero'],
    ['cancel', [], 'the id of a task must be a text'],
  ])('refuses to %s %j', async (method, args, told) => {
    const provider = new Provider();
    const entry = tool('x', {
      capabilities: { delegation: { background: true } },
      execute: async (_, { delegation }) => {
        await Reflect.apply(Object(delegation)[method], delegation, args);
        return { ok: true, value: '' };
      },
    });
    const answer = await runOne(entry, { delegation: provider });
    expect(answer).toMatchObject({ ok: false, cause: 'VALUE_INVALID' });
    expect(JSON.stringify(answer)).toContain(JSON.stringify(told).slice(1, -1));
    expect(provider.callers).toEqual([]);
  });

  it('reaches a tool that declares it, with the session and personality of the call', async () => {
    const provider = new Provider();
    const audit = new MemoryAuditSink();
    const entry = tool('x', {
      capabilities: { delegation: { background: true } },
      execute: async (_, { delegation }) => {
        await delegation?.run(task);
        await delegation?.start(task);
        await delegation?.list();
        await delegation?.get('t1');
        await delegation?.cancel('t1');
        return { ok: true, value: '' };
      },
    });
    await runOne(entry, { delegation: provider }, { audit });
    expect(provider.callers).toHaveLength(5);
    expect(provider.callers[0]).toMatchObject({ sessionId: batchContext().sessionId });
    // The end of the call also ends what runs for it.
    expect(provider.callers[0]?.signal.aborted).toBe(true);
    expect(
      audit.events.map(({ capability, operation, target, decision }) => [
        capability,
        operation,
        target,
        decision,
      ]),
    ).toEqual([
      ['delegation', 'run', 'count the files', 'allowed'],
      ['delegation', 'start', 'count the files', 'allowed'],
      ['delegation', 'list', '*', 'allowed'],
      ['delegation', 'get', 't1', 'allowed'],
      ['delegation', 'cancel', 't1', 'allowed'],
    ]);
  });

  it('gives the secrets of a call to no model', async () => {
    const told: unknown[] = [];
    const provider = Object.assign(new Provider(), {
      run: async (_: DelegationCaller, given: DelegatedTask) => {
        told.push(given);
        return info;
      },
      start: async (_: DelegationCaller, given: DelegatedTask) => {
        told.push(given);
        return info;
      },
      read: async (_: DelegationCaller, given: QuarantinedRead) => {
        told.push(given);
        return { ok: true as const, value: 1 };
      },
    });
    const audit = new MemoryAuditSink();
    const entry = tool('x', {
      capabilities: { delegation: { background: true }, secrets: ['api/key'] },
      execute: async (_, { delegation, secretsResolver }) => {
        const key = await secretsResolver?.get('api/key');
        await delegation?.run({ prompt: `${'-'.repeat(195)}${key}`, maxSteps: 2 });
        await delegation?.start({ prompt: `Log in with ${key}` });
        const args = { key };
        await delegation?.read({ tool: 'y', args, question: `Is it ${key}?`, schema: {} });
        return { ok: true, value: '' };
      },
    });
    const secretsBackend = async () => 'hunter2-secret';
    await runOne(entry, { delegation: provider }, { audit, secretsBackend });
    expect(told).toEqual([
      { prompt: `${'-'.repeat(195)}[secret:api/key]`, maxSteps: 2 },
      { prompt: 'Log in with [secret:api/key]' },
      {
        tool: 'y',
        args: { key: 'hunter2-secret' },
        question: 'Is it [secret:api/key]?',
        schema: {},
      },
    ]);
    expect(JSON.stringify(audit.events)).not.toContain('hunt');
  });

  it('is absent without a declaration, and without a host', async () => {
    const seen: unknown[] = [];
    const execute: AnyTool['execute'] = async (_, ctx) => {
      seen.push(ctx.delegation);
      return { ok: true, value: '' };
    };
    await runOne(tool('x', { execute }), { delegation: new Provider() });
    await runOne(tool('x', { execute, capabilities: { delegation: {} } }), {});
    expect(seen).toEqual([undefined, undefined]);
  });

  it('starts nothing that outlives the call of a tool that did not declare it', async () => {
    const provider = new Provider();
    const audit = new MemoryAuditSink();
    const codes: unknown[] = [];
    const entry = tool('x', {
      capabilities: { delegation: {} },
      execute: async (_, { delegation }) => {
        codes.push(await delegation?.start(task).catch(errorCodeOf));
        return { ok: true, value: '' };
      },
    });
    await runOne(entry, { delegation: provider }, { audit });
    expect(codes).toEqual(['DELEGATION_REFUSED']);
    expect(provider.callers).toEqual([]);
    expect(audit.events).toMatchObject([{ operation: 'start', decision: 'denied' }]);
  });

  it('is over when the call is', async () => {
    let kept: NonNullable<Parameters<AnyTool['execute']>[1]['delegation']> | undefined;
    const provider = new Provider();
    const entry = tool('x', {
      capabilities: { delegation: {} },
      execute: async (_, { delegation }) => {
        kept = delegation;
        return { ok: true, value: '' };
      },
    });
    await runOne(entry, { delegation: provider });
    expect(await kept?.run(task).catch(errorCodeOf)).toBe('CALL_ENDED');
    expect(provider.callers).toEqual([]);
  });

  it.each(['x', null, { background: 'yes' }])('is refused when declared as %j', (delegation) => {
    const entry = tool('x', { capabilities: Object({ delegation }) });
    const register = () => new DefaultToolRegistry().register(entry);
    expect(register).toThrow(/delegation/);
  });
});

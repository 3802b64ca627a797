import type { AuditEvent, Tool } from '@ethosagent/types';
import { describe, expect, it, vi } from 'vitest';
import type { BeforeCall, CallBegin, CallEnd, CallHooks } from './call-hooks.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const ran: unknown[] = [];
const note: Tool<{ text: string }> = {
  name: 'note',
  description: 'Notes.',
  schema: { type: 'object' },
  capabilities: { storage: { scope: 'session', kind: 'kv', concurrency: 'parallel' } },
  async execute({ text }, ctx) {
    if (typeof text !== 'string') {
      return { ok: false, code: 'input_invalid', error: 'text is no text' };
    }
    ran.push(text);
    await ctx.kvStore?.set('k', text);
    return { ok: true, value: 'noted' };
  },
};

async function run(hooks: CallHooks, texts: readonly string[], approve = false) {
  ran.length = 0;
  const registry = new DefaultToolRegistry(
    { ...createInMemoryKvStore(), approve: () => approve },
    undefined,
    hooks,
  );
  registry.register(note);
  const results = await registry.executeParallel(
    texts.map((text, index) => ({ toolCallId: `${index}`, name: 'note', args: { text } })),
    {
      sessionId: 's',
      sessionKey: 's',
      platform: 'test',
      workingDir: '/',
      currentTurn: 1,
      messageCount: 0,
      abortSignal: new AbortController().signal,
      emit: () => {},
    },
  );
  return results.map(({ result }) => (result.ok ? result.value : result.error));
}

describe('beforeCall', () => {
  it('refuses a call, or has it approved, and no other', async () => {
    const seen: CallBegin[] = [];
    const beforeCall: CallHooks['beforeCall'] = (call) => {
      seen.push(call);
      const { text } = call.args as { text: string };
      if (text === 'no') return { refuse: 'not this' };
      return text === 'ask' ? { ask: 'the host asks' } : undefined;
    };
    expect(await run({ beforeCall }, ['a', 'no', 'ask'])).toEqual([
      'noted',
      'not this',
      'note needs approval, and it was refused',
    ]);
    expect(ran).toEqual(['a']);
    expect(seen[0]).toEqual({
      toolCallId: '0',
      toolName: 'note',
      args: { text: 'a' },
      sessionId: 's',
    });
    expect(await run({ beforeCall }, ['ask'], true)).toEqual(['noted']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken');
      },
    ],
    ['gives neither', () => JSON.parse('{"allow":true}')],
    ['gives true', () => JSON.parse('true')],
  ])('that %s refuses that call alone', async (_, hook) => {
    let first = true;
    const beforeCall = () => {
      if (!first) return undefined;
      first = false;
      return hook();
    };
    const [refused, other] = await run({ beforeCall }, ['a', 'b']);
    expect(refused).toMatch(/refused the call|could not decide/);
    expect(other).toBe('noted');
    expect(ran).toEqual(['b']);
  });

  it('can not change what runs', async () => {
    const beforeCall: CallHooks['beforeCall'] = ({ args }) => {
      expect(() => Object.assign(args as object, { text: 'other' })).toThrow(TypeError);
      return undefined;
    };
    await run({ beforeCall }, ['a']);
    expect(ran).toEqual(['a']);
  });
});

describe('several beforeCall hooks', () => {
  it('are asked in their order, and the first refusal ends it', async () => {
    const asked: string[] = [];
    const hook = (name: string, said?: BeforeCall) => () => {
      asked.push(name);
      return said;
    };
    const beforeCall = [
      hook('a', { ask: 'one' }),
      hook('b'),
      hook('c', { refuse: 'no' }),
      hook('d'),
    ];
    expect(await run({ beforeCall }, ['x'], true)).toEqual(['no']);
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(await run({ beforeCall: beforeCall.slice(0, 2) }, ['x'])).toEqual([
      'note needs approval, and it was refused',
    ]);
    expect(await run({ beforeCall: beforeCall.slice(0, 2) }, ['x'], true)).toEqual(['noted']);
  });

  it('leave what all of them leave', async () => {
    const hook =
      (hosts: string[]): CallHooks['beforeCall'] & (() => BeforeCall) =>
      () => ({ narrow: { hosts } });
    const reached: (readonly string[] | undefined)[] = [];
    const registry = new DefaultToolRegistry({}, undefined, {
      beforeCall: [hook(['*.test', 'a.com']), hook(['a.test', 'a.com', 'b.net'])],
    });
    registry.register({
      ...note,
      capabilities: { network: { allowedHosts: ['*.test', 'b.net'] } },
      async execute(_, { networkPolicy }) {
        reached.push(networkPolicy?.allow);
        return { ok: true, value: 'done' };
      },
    });
    await registry.executeParallel([{ toolCallId: 'c', name: 'note', args: {} }], batchContext());
    expect(reached).toEqual([['a.com', 'a.test']]);
  });
});

describe('a call that can not be narrowed', () => {
  it.each<[string, Partial<Tool>]>([
    ['keeps a service open', { capabilities: { service: { scope: 'session' } } }],
    ['starts sub-agents', { capabilities: { delegation: {} } }],
    ['comes from elsewhere', { capabilities: {}, unconfined: true, requiresApproval: false }],
  ])('is refused where its tool %s', async (_, more) => {
    const execute = vi.fn();
    const registry = new DefaultToolRegistry({}, undefined, {
      beforeCall: () => ({ narrow: { hosts: [] } }),
    });
    registry.register({ ...note, ...more, execute });
    const [answer] = await registry.executeParallel(
      [{ toolCallId: 'c', name: 'note', args: {} }],
      batchContext(),
    );
    expect(answer?.result).toMatchObject({ ok: false, cause: 'NOT_APPROVED' });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([
    ['an unknown list', '{"narrow":{"host":[]}}'],
    ['a list of numbers', '{"narrow":{"hosts":[1]}}'],
    ['a text', '{"narrow":{"hosts":"*"}}'],
    ['a relative path', '{"narrow":{"read":["notes"]}}'],
    ['no narrowing', '{"narrow":[]}'],
    ['an unknown key beside it', '{"ask":"x","narow":{}}'],
  ])('is refused for %s', async (_, said) => {
    expect((await run({ beforeCall: () => JSON.parse(said) }, ['a'], true)).join()).toContain(
      'could not decide',
    );
    expect(ran).toEqual([]);
  });
});

describe('afterCall', () => {
  it('is told of each answer, also of what did not run, and waited for', async () => {
    const seen: CallEnd[] = [];
    const afterCall = async (call: CallEnd) => {
      await Promise.resolve();
      Object.assign(call.result, { value: 'changed' });
      seen.push(call);
    };
    expect(await run({ afterCall }, ['a', JSON.parse('1')])).toEqual([
      'noted',
      expect.stringContaining('text'),
    ]);
    expect(seen.map(({ toolCallId }) => toolCallId).sort()).toEqual(['0', '1']);
  });

  it('that throws withholds that answer alone', async () => {
    let first = true;
    const afterCall = () => {
      if (!first) return;
      first = false;
      throw new Error('broken');
    };
    const answers = await run({ afterCall }, ['a', 'b']);
    expect(answers.filter((text) => text === 'noted')).toHaveLength(1);
    expect(answers.join()).toContain('withheld');
  });
});

describe('afterCall of a call that did not come to its end', () => {
  const begun: unknown[] = [];
  const waiting = (
    name: string,
    afterCall: (call: CallEnd) => Promise<void>,
    abortSignal: AbortSignal,
  ) => {
    const registry = new DefaultToolRegistry(undefined, undefined, { afterCall });
    registry.register({
      ...note,
      name: 'wait',
      capabilities: {},
      execute: (_, ctx) =>
        new Promise((resolve) => {
          begun.push(ctx.toolCallId);
          ctx.abortSignal.addEventListener('abort', () => resolve({ ok: true, value: 'late' }));
        }),
    });
    const calls = [{ toolCallId: 'c', name, args: { text: 'a' } }];
    return registry.executeParallel(calls, batchContext({ abortSignal }));
  };

  it('has its time where a gate refused the call', async () => {
    // A deadline of zero would come first, however busy the machine is.
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
    const answer = await waiting('gone', slow, new AbortController().signal);
    expect(answer).toMatchObject([{ result: { ok: false, cause: 'TOOL_NOT_FOUND' } }]);
  });

  it.each(['before it ran', 'while it ran'])(
    'is told of one that was aborted %s, which stays aborted',
    async (when) => {
      const gone = new AbortController();
      if (when === 'before it ran') gone.abort();
      const told: CallEnd[] = [];
      const hook = (call: CallEnd) => {
        told.push(call);
        // Nobody waits for it.
        return new Promise<void>(() => {});
      };
      begun.length = 0;
      const answer = waiting('wait', hook, gone.signal);
      await new Promise((resolve) => setImmediate(resolve));
      expect(begun).toEqual(when === 'while it ran' ? ['c'] : []);
      gone.abort();
      expect(await answer).toMatchObject([{ result: { ok: false, cause: 'CALL_ABORTED' } }]);
      expect(told).toMatchObject([
        { toolCallId: 'c', toolName: 'wait', result: { cause: 'CALL_ABORTED' } },
      ]);
    },
  );

  it('says that the turn was aborted where that was before the hook had heard of the answer', async () => {
    const gone = new AbortController();
    const hook = () => {
      gone.abort();
      return new Promise<void>(() => {});
    };
    const registry = new DefaultToolRegistry(undefined, undefined, { afterCall: hook });
    registry.register({ ...note, capabilities: {} });
    const calls = [{ toolCallId: 'c', name: 'note', args: { text: 'a' } }];
    const answer = registry.executeParallel(calls, batchContext({ abortSignal: gone.signal }));
    expect(await answer).toMatchObject([{ result: { ok: false, cause: 'CALL_ABORTED' } }]);
  });
});

describe('onAccess', () => {
  it('is told of each access, and refuses it by throwing', async () => {
    const events: AuditEvent[] = [];
    expect(await run({ onAccess: (event) => void events.push(event) }, ['a'])).toEqual(['noted']);
    expect(events).toMatchObject([{ toolCallId: '0', operation: 'set', decision: 'allowed' }]);
    const broken = () => {
      throw new Error('broken');
    };
    expect((await run({ onAccess: broken }, ['a'])).join()).toContain('AUDIT_FAILED');
  });
});

it('refuses what is no hook', () => {
  const hooks = JSON.parse('{"beforeCall": true}');
  expect(() => new DefaultToolRegistry({}, undefined, hooks)).toThrow('CONFIG_INVALID');
});

import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import type { AnyTool } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decideOn } from '../fixtures/decide-on.js';
import {
  type AgentWorld,
  createAgentWorld,
  doneOf,
  eventsOf,
  only,
  type WorldOptions,
} from './fixtures/agent-world.js';
import { answer, calls, type ScriptedCall, says } from './fixtures/answers.js';
import { toolMessages } from './fixtures/chat-request.js';

let world: AgentWorld;
afterEach(async () => {
  expect(world.server.problems).toEqual([]);
  await world.close();
});

async function turn(script: WorldOptions['script'], more: Omit<WorldOptions, 'script'> = {}) {
  world = await createAgentWorld({ script, ...more });
  return eventsOf(world.loop.run({ sessionId: 's', prompt: 'Go.' }));
}

const add = (a: number, b: number, id?: string | null): ScriptedCall => ({
  name: 'add',
  args: { a, b },
  ...(id !== undefined && { id }),
});
const toldAtEnd = () =>
  toolMessages(world.server.requests.at(-1) ?? raise()).map(({ text }) => text);

describe('ids of calls', () => {
  it('that are the same within a step are told apart', async () => {
    const events = await turn([
      calls(add(1, 1, 'c'), add(2, 2, 'c'), add(3, 3, 'c')),
      says('Done.'),
    ]);
    expect(toldAtEnd()).toEqual(['2', '4', '6']);
    const ids = only(events, 'tool_end').map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(3);
  });

  it('that are the same from step to step are told apart', async () => {
    await turn([
      calls(add(1, 1, 'c')),
      calls(add(2, 2, 'c')),
      calls(add(3, 3, 'c')),
      says('Done.'),
    ]);
    expect(toldAtEnd()).toEqual(['2', '4', '6']);
  });

  it.runIf(isLongRun())('that are the same from turn to turn are told apart', async () => {
    await turn([calls(add(1, 1, 'c')), says('2'), calls(add(2, 2, 'c')), says('4')]);
    await eventsOf(world.anotherLoop().run({ sessionId: 's', prompt: 'Again.' }));
    expect(toldAtEnd()).toEqual(['2', '4']);
  });

  it('of one that was approved approve no other', async () => {
    const ran: string[] = [];
    const guarded = defineTool({
      name: 'guarded',
      description: 'Asks first.',
      input: z.object({ line: z.string() }),
      capabilities: {},
      effects: [],
      requiresApproval: true,
      execute: async ({ line }) => {
        ran.push(line);
        return ok(line);
      },
    });
    const call = (line: string) => calls({ id: 'c', name: 'guarded', args: { line } });
    await turn([call('good'), call('bad'), says('Done.')], { tools: [guarded] });
    const [first = raise()] = await world.loop.pending('s');
    await decideOn(world.loop, 's', { toolCallId: first.toolCallId, approved: true });
    const events = await eventsOf(world.anotherLoop().resume({ sessionId: 's' }));
    expect(doneOf(events)).toMatchObject({ end: 'paused', approvals: [{ args: { line: 'bad' } }] });
    expect(ran).toEqual(['good']);
  });

  const strange: Array<[string, string | null]> = [
    ['empty', ''],
    ['null', null],
    ['with quotes', '"; DROP TABLE message; --'],
    ['with line feeds', 'a\nb\r\nc'],
    ['of 10 KB', 'x'.repeat(10_000)],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['a marking', '</untrusted>'],
    ['with NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800b'],
    ['emoji', '👩‍🚀'],
    ['spaces', '   '],
  ];
  const standing = ['empty', '__proto__', 'a lone surrogate'];
  it.each(inCheck(strange, ([what]) => standing.includes(what)))(
    'that are %s are answered one by one',
    async (_, id) => {
      const events = await turn([
        calls(add(1, 1, id), add(2, 2, 'plain')),
        calls(add(3, 3, id)),
        says('Done.'),
      ]);
      expect(toldAtEnd()).toEqual(['2', '4', '6']);
      expect(doneOf(events)).toMatchObject({ end: 'answered', calls: 3 });
      // Another process can continue with the stored session.
      expect(await world.anotherLoop().state('s')).toBe('idle');
    },
  );
});

describe('calls without end', () => {
  it('of the same thing end the turn', async () => {
    const events = await turn(() => calls(add(1, 1)), {
      loop: { limits: { maxIdenticalCalls: 3 } },
    });
    expect(doneOf(events)).toMatchObject({ end: 'identical_calls' });
    // The call beyond the limit is answered, and does not run.
    expect(only(events, 'tool_end').map(({ result }) => result.ok)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it.runIf(isLongRun())('of the same thing in one step end the turn', async () => {
    const many = Array.from({ length: 20 }, (_, at) => add(1, 1, `c${at}`));
    const events = await turn(() => answer({ calls: many }), {
      loop: { limits: { maxIdenticalCalls: 3 } },
    });
    expect(doneOf(events)).toMatchObject({ end: 'identical_calls' });
    expect(only(events, 'tool_end').filter(({ result }) => result.ok).length).toBeLessThanOrEqual(
      3,
    );
  });

  it('with keys in another order are the same thing', async () => {
    let at = 0;
    const orders = ['{"a":1,"b":2}', '{"b":2,"a":1}', '{ "b": 2.0, "a": 1 }'];
    const events = await turn(() => calls({ name: 'add', args: orders[at++ % orders.length] }), {
      loop: { limits: { maxIdenticalCalls: 4, maxSteps: 20 } },
    });
    expect(doneOf(events).end).toBe('identical_calls');
  });

  it.runIf(isLongRun())('of two things in turns end at the limit of steps', async () => {
    let at = 0;
    const events = await turn(() => calls(add(1, at++ % 2)), {
      loop: { limits: { maxSteps: 6 } },
    });
    expect(doneOf(events)).toMatchObject({ end: 'max_steps', steps: 6 });
    expect(world.server.requests).toHaveLength(6);
    // A provider accepts the history of the next turn.
    await eventsOf(world.loop.run({ sessionId: 's', prompt: 'Go on.' }));
  });

  it('that are wrong count, too', async () => {
    const events = await turn(() => calls({ name: 'add', args: '{' }), {
      loop: { limits: { maxIdenticalCalls: 3, maxSteps: 20 } },
    });
    expect(['identical_calls', 'max_calls']).toContain(doneOf(events).end);
  });

  it.runIf(isLongRun())('of an unknown tool end the turn', async () => {
    const events = await turn(() => calls({ name: 'nothing', args: {} }), {
      loop: { limits: { maxIdenticalCalls: 3, maxSteps: 20 } },
    });
    expect(doneOf(events).end).toBe('identical_calls');
  });

  const count = tries({ check: 60, nightly: 3_000, long: 10_000 });
  const maxCalls = tries({ check: 40, long: 200 });
  it(`${count} in one step run up to the limit, and all are answered`, async () => {
    const many = Array.from({ length: count }, (_, at) => add(at, 1, `c${at}`));
    const events = await turn([answer({ calls: many, delta: 100 }), says('Oh.')], {
      // All of them fit into the context, so nothing is summed up.
      loop: { limits: { maxCalls }, context: { window: 10_000_000 } },
    });
    expect(doneOf(events)).toMatchObject({ end: 'max_calls' });
    const ran = only(events, 'tool_end').filter(({ result }) => result.ok);
    expect(ran).toHaveLength(maxCalls);
    const next = await eventsOf(world.loop.run({ sessionId: 's', prompt: 'Go on.' }));
    expect(doneOf(next).end).toBe('answered');
    expect(toolMessages(world.server.requests.at(-1) ?? raise())).toHaveLength(count);
  });
});

describe('arguments', () => {
  it('with __proto__ in them never reach a prototype', async () => {
    const seen: unknown[] = [];
    const free: AnyTool = {
      name: 'free',
      description: 'Takes anything.',
      schema: { type: 'object' },
      capabilities: {},
      execute: async (args) => {
        seen.push(args);
        return ok('taken');
      },
    };
    const hostile = [
      '{"__proto__":{"polluted":1}}',
      '{"a":{"__proto__":{"polluted":1}}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"\\u005f_proto__":{"polluted":1}}',
    ];
    const events = await turn(
      [calls(...hostile.map((args, at) => ({ id: `c${at}`, name: 'free', args }))), says('Done.')],
      { tools: [free] },
    );
    expect(doneOf(events).end).toBe('answered');
    expect(only(events, 'tool_end')).toHaveLength(hostile.length);
    for (const value of [{}, Object.assign({}, ...seen)])
      expect(Reflect.get(value, 'polluted')).toBe(undefined);
    // Reading the session in another process does not pollute the prototype either.
    await world.anotherLoop().state('s');
    expect(Reflect.get({}, 'polluted')).toBe(undefined);
  });

  it.runIf(isLongRun())('of 1 MB are answered', async () => {
    const script = [
      answer({
        calls: [{ name: 'write_note', args: { path: 'a', text: 'x'.repeat(1_000_000) } }],
        delta: 100_000,
      }),
      says('Long.'),
    ];
    const events = await turn(script, { loop: { context: { window: 1_000_000 } } });
    expect(doneOf(events).end).toBe('answered');
  });
});

describe('progress', () => {
  const talks = (count: number, audience: 'internal' | 'user' | 'dashboard' | undefined) =>
    defineTool({
      name: 'talks',
      description: 'Says what it does.',
      input: z.object({}),
      capabilities: {},
      async execute(_, ctx) {
        for (let at = 0; at < count; at++) {
          const message = `secret ${at}`;
          ctx.emit({ type: 'progress', toolName: 'talks', message, ...(audience && { audience }) });
          if (at % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        return ok('said');
      },
    });

  it.each(inCheck([undefined, 'internal'] as const, (audience) => audience === undefined))(
    'for %s is among no events',
    async (audience) => {
      const internal: string[] = [];
      const events = await turn([calls({ name: 'talks' }), says('Done.')], {
        tools: [talks(3, audience)],
        loop: { onInternal: ({ message }) => internal.push(message) },
      });
      expect(only(events, 'tool_progress')).toEqual([]);
      expect(JSON.stringify(events)).not.toContain('secret');
      expect(JSON.stringify(world.server.requests.map(({ messages }) => messages))).not.toContain(
        'secret',
      );
      expect(internal).toEqual(['secret 0', 'secret 1', 'secret 2']);
    },
  );

  it.each(inCheck(['user', 'dashboard'] as const, (audience) => audience === 'user'))(
    'for %s comes in order',
    async (audience) => {
      const events = await turn([calls({ name: 'talks' }), says('Done.')], {
        tools: [talks(3, audience)],
      });
      const progress = only(events, 'tool_progress');
      expect(progress.map(({ message }) => message)).toEqual(['secret 0', 'secret 1', 'secret 2']);
      expect(progress.every((event) => event.audience === audience)).toBe(true);
    },
  );

  it('without end keeps memory bounded, and the turn goes on', async () => {
    const messages = tries({ check: 50_000, nightly: 1_000_000, long: 1_000_000 });
    const before = process.memoryUsage().rss;
    let highest = 0;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 10);
    world = await createAgentWorld({
      script: [calls({ name: 'talks' }), says('Done.')],
      tools: [talks(messages, 'user')],
    });
    let last: unknown;
    for await (const event of world.loop.run({ sessionId: 's', prompt: 'Go.' })) {
      if (event.type === 'tool_progress') await new Promise((resolve) => setTimeout(resolve, 1));
      last = event;
    }
    clearInterval(watch);
    expect(last).toMatchObject({ type: 'done', end: 'answered' });
    expect((highest - before) / 1024 ** 2).toBeLessThan(300);
  });
});

function raise(): never {
  throw new Error('there is none');
}

import { createInMemorySessionStore } from '@ethosagent/core';
import { inCheck } from '@ethosagent/test-support';
import { errorCodeOf, type SessionStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from './api.js';
import type { ScriptedStep } from './fixtures/scripted-model.js';
import { expectWellFormed } from './fixtures/well-formed.js';
import { doneOf, eventsOf, failingAt, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const WORK: ScriptedStep[] = [
  {
    text: 'First.',
    calls: [
      { id: 'a', name: 'echo', args: { text: 'a' } },
      { id: 'b', name: 'fetch_page', args: { url: 'b' } },
      { id: 'x', name: 'echo', raw: '{"text":' },
    ],
  },
  { calls: [{ id: 'p', name: 'pay', args: { amount: 1 } }] },
  { text: 'Done.' },
];

/** The remaining work, as a model does it that has read the answers. */
function rest(answered: readonly string[]): ScriptedStep[] {
  if (answered.includes('p')) return WORK.slice(2);
  return answered.includes('a') ? WORK.slice(1) : WORK;
}

/** A check stops at every third event. */
const isOfCheck = (at: number) => at % 3 === 0;

async function answeredCalls(store: SessionStore): Promise<string[]> {
  const messages = await store.messages('s');
  return messages.flatMap(({ data }) => {
    const { kind, parts }: { kind?: string; parts?: { id?: string }[] } = Object(data);
    return kind === 'step' ? (parts ?? []).flatMap(({ id }) => id ?? []) : [];
  });
}

/** Resumes the turn to its end, or runs it if it never began. Returns its events. */
async function finish(store: SessionStore = world.sessions): Promise<AgentEvent[]> {
  const loop = world.loop(rest(await answeredCalls(store)), {
    sessions: store,
    approve: () => true,
  });
  const state = await loop.state('s');
  const events = await eventsOf(
    state === 'idle'
      ? loop.run({ sessionId: 's', prompt: 'Work' })
      : loop.resume({ sessionId: 's' }),
  );
  expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'Done.' });
  return events;
}

function expectNothingTwice(): void {
  expect(new Set(world.ran).size).toBe(world.ran.length);
}

describe('a turn whose store fails', () => {
  const appends = Array.from({ length: 14 }, (_, at) => at + 1);

  it.each(inCheck(appends, (n) => n === 1 || n % 2 === 0))(
    'at append %i runs nothing twice when it is resumed',
    async (n) => {
      const store = failingAt(world.sessions, n);
      const loop = world.loop(WORK, { sessions: store, approve: () => true });
      try {
        const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Work' }));
        if (store.appends >= n) {
          expect(doneOf(events)).toMatchObject({ end: 'failed' });
          expect(ofType(events, 'error')).toHaveLength(1);
          // Nothing is tried again on a store that has failed.
          expect(store.appends).toBe(n);
        }
      } catch (error) {
        expect(n).toBe(1);
        expect(error).toMatchObject({ message: 'the disk is on fire' });
      }
      const began = new Set(world.ran);
      const isOver = (await world.loop([]).state('s')) === 'idle' && n > 1;
      const events = isOver ? [] : await finish();
      expectNothingTwice();
      expect([...world.ran].sort()).toEqual(['echo a', 'fetch_page b', 'pay 1']);
      await expectWellFormed(world);
      for (const { toolCallId, result } of ofType(events, 'tool_end')) {
        if (result.ok || toolCallId === 'x') continue;
        expect(result.error).toContain('It may have run');
        expect(began.size).toBeGreaterThan(0);
      }
    },
  );
});

describe('a turn that nobody reads to its end', () => {
  it('is left unfinished at every event, and nothing runs twice', async () => {
    const whole = await eventsOf(
      world.loop(WORK, { approve: () => true }).run({ sessionId: 'whole', prompt: 'Work' }),
    );
    for (const at of inCheck([...whole.keys()], isOfCheck)) {
      const each = new World();
      try {
        const loop = each.loop(WORK, { approve: () => true });
        let seen = 0;
        for await (const event of loop.run({ sessionId: 's', prompt: 'Work' })) {
          if (seen++ === at || event.type === 'done') break;
        }
        const state = await loop.state('s');
        expect(state, `left at event ${at}`).toBe(at >= whole.length - 2 ? 'idle' : 'unfinished');
        if (state === 'idle') continue;
        const answered = await answeredCalls(each.sessions);
        const next = each.loop(rest(answered), { approve: () => true });
        expect(doneOf(await eventsOf(next.resume({ sessionId: 's' }))).end).toBe('answered');
        expect(new Set(each.ran).size).toBe(each.ran.length);
        await expectWellFormed(each);
      } finally {
        each.close();
      }
    }
  });
});

describe('a loop that is closed', () => {
  it.each([0, 1, 3, 6])('leaves its turns unfinished, at event %i', async (at) => {
    const loop = world.loop(WORK, { approve: () => true });
    const reader = loop.run({ sessionId: 's', prompt: 'Work' })[Symbol.asyncIterator]();
    for (let read = 0; read < at; read++) await reader.next();
    const last = reader.next();
    await Promise.all([loop.close(), last, reader.return?.()]);
    expect(await loop.state('s')).toBe('unfinished');
    expectNothingTwice();
  });

  it('can be closed by whoever reads', async () => {
    const loop = world.loop(WORK, { approve: () => true });
    const events: AgentEvent[] = [];
    for await (const event of loop.run({ sessionId: 's', prompt: 'Work' })) {
      if (events.push(event) === 3) await loop.close();
    }
    expect(events).toHaveLength(3);
    expect(await loop.state('s')).toBe('unfinished');
  });
});

describe('a turn that the caller aborts', () => {
  it('ends at every event, with a history that can be gone on with', async () => {
    const whole = await eventsOf(
      world.loop(WORK, { approve: () => true }).run({ sessionId: 'whole', prompt: 'Work' }),
    );
    for (const at of inCheck([...whole.keys()].slice(0, -1), isOfCheck)) {
      const each = new World();
      try {
        const controller = new AbortController();
        const loop = each.loop(WORK, { approve: () => true });
        const events: AgentEvent[] = [];
        const input = { sessionId: 's', prompt: 'Work', abortSignal: controller.signal };
        for await (const event of loop.run(input)) {
          if (events.push(event) === at + 1) controller.abort();
        }
        expect(['aborted', 'answered'], `at ${at}`).toContain(doneOf(events).end);
        expect(await loop.state('s')).toBe('idle');
        expect(new Set(each.ran).size).toBe(each.ran.length);
        await expectWellFormed(each);
        const next = await each.loop([{ text: 'on' }]).ask({ sessionId: 's', prompt: 'Go on' });
        expect(next).toMatchObject({ end: 'answered', turn: 2 });
      } finally {
        each.close();
      }
    }
  });

  it('does not ask the model when it was aborted before', async () => {
    const loop = world.loop(() => {
      throw new Error('it was asked');
    });
    const events = await eventsOf(
      loop.run({ sessionId: 's', prompt: 'Work', abortSignal: AbortSignal.abort() }),
    );
    expect(events.map(({ type }) => type)).toEqual(['start', 'done']);
    expect(doneOf(events)).toMatchObject({ end: 'aborted' });
  });

  it('keeps what the model had said', async () => {
    const controller = new AbortController();
    const loop = world.loop([{ deltas: ['one', 'two', 'three', 'four'] }]);
    const input = { sessionId: 's', prompt: 'Count', abortSignal: controller.signal };
    for await (const event of loop.run(input)) if (event.type === 'text') controller.abort();
    const messages = await world.sessions.messages('s');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'system']);
    expect(messages[1]?.text).toMatch(/^one/);
    await expectWellFormed(world);
  });
});

describe('a turn that two resume at once', () => {
  it.each([
    ['SQLite', () => world.sessions],
    ['memory', () => createInMemorySessionStore()],
  ])('goes on in one of them, in %s', async (_name, open) => {
    const sessions: SessionStore = open();
    const first = world.loop(WORK, { sessions: failingAt(sessions, 3), approve: () => true });
    await eventsOf(first.run({ sessionId: 's', prompt: 'Work' }));
    const both = [1, 2].map(() => finish(sessions));
    const results = await Promise.allSettled(both);
    const won = results.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    const codes = results.map(
      (result) => result.status === 'rejected' && errorCodeOf(result.reason),
    );
    expect(codes).toContain('SESSION_CHANGED');
    expectNothingTwice();
    await expectWellFormed({ sessions });
  });

  it('ends in the one that lost it while it ran', async () => {
    const slow = world.loop(WORK, {
      approve: async () => {
        await finish();
        return true;
      },
    });
    const events = await eventsOf(slow.run({ sessionId: 's', prompt: 'Work' }));
    expect(doneOf(events)).toMatchObject({ end: 'failed' });
    expect(ofType(events, 'error').map(({ error }) => error.code)).toEqual(['SESSION_CHANGED']);
    expectNothingTwice();
    expect(world.ran).toContain('pay 1');
    await expectWellFormed(world);
  });
});

describe('a turn that can not begin', () => {
  it('is another one of a session that has one', async () => {
    const loop = world.loop([{ calls: [{ name: 'echo', args: { text: 'a' } }] }]);
    for await (const event of loop.run({ sessionId: 's', prompt: 'Work' })) {
      if (event.type !== 'tool_end') continue;
      await expect(eventsOf(loop.run({ sessionId: 's', prompt: 'More' }))).rejects.toMatchObject({
        code: 'TURN_INVALID',
      });
      await expect(loop.abandon('s')).rejects.toMatchObject({ code: 'TURN_INVALID' });
      expect(await loop.ask({ sessionId: 'other', prompt: 'Hi' })).toMatchObject({
        end: 'answered',
      });
    }
    expect(await loop.state('s')).toBe('idle');
  });

  it('follows one that is over at once', async () => {
    const loop = world.loop([]);
    for await (const event of loop.run({ sessionId: 's', prompt: '1' })) {
      if (event.type !== 'done') continue;
      expect(await loop.ask({ sessionId: 's', prompt: '2' })).toMatchObject({ turn: 2 });
    }
  });

  it.each<[string, Parameters<SessionStore['append']>[1]]>([
    ['without data', [{ role: 'user', text: 'Hi' }]],
    [
      'of a newer version',
      [{ role: 'user', text: 'Hi', data: { v: 2, kind: 'user', turn: 1, prompt: 'Hi' } }],
    ],
    [
      'of an unknown kind',
      [{ role: 'user', text: 'Hi', data: { v: 1, kind: 'toString', turn: 1 } }],
    ],
    [
      'that is damaged',
      [{ role: 'user', text: 'Hi', data: { v: 1, kind: 'user', turn: 'one', prompt: 'Hi' } }],
    ],
    [
      'that does not follow',
      [{ role: 'user', text: 'Hi', data: { v: 1, kind: 'user', turn: 7, prompt: 'Hi' } }],
    ],
    [
      'with a result of no call',
      [
        { role: 'user', text: 'Hi', data: { v: 1, kind: 'user', turn: 1, prompt: 'Hi' } },
        {
          role: 'tool',
          text: '',
          data: { v: 1, kind: 'result', turn: 1, call: 'x', output: '', ok: true },
        },
      ],
    ],
    [
      'with an end before its calls are answered',
      [
        { role: 'user', text: 'Hi', data: { v: 1, kind: 'user', turn: 1, prompt: 'Hi' } },
        {
          role: 'assistant',
          text: '',
          data: {
            v: 1,
            kind: 'step',
            turn: 1,
            step: 1,
            parts: [{ type: 'call', id: 'x', name: 'echo', input: {} }],
            usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 },
            finish: 'tool-calls',
          },
        },
        { role: 'system', text: '', data: { v: 1, kind: 'end', turn: 1, end: 'answered' } },
      ],
    ],
  ])('is one of a session with a message %s', async (_name, messages) => {
    await world.sessions.append({ id: 's', scopeId: 'personality:tester' }, messages);
    const loop = world.loop([]);
    for (const attempt of [
      () => eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' })),
      () => eventsOf(loop.resume({ sessionId: 's' })),
      () => loop.state('s'),
      () => loop.pending('s'),
      () => loop.abandon('s'),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'TURN_INVALID' });
    }
    expect(await world.sessions.messages('s')).toHaveLength(messages.length);
  });
});

import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck } from '@ethosagent/test-support';
import { errorCodeOf, type SessionStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentLoop } from './agent-loop.js';
import { decideOn } from './fixtures/decide-on.js';
import { expectWellFormed } from './fixtures/well-formed.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const PAID = [{ id: 'p', name: 'pay', args: { amount: 1 } }];
const PAY = [{ calls: PAID }];

/** Checks that the session can be read and continued. */
async function expectSound(): Promise<void> {
  await expectWellFormed(world);
  const loop = world.loop([{ text: 'on' }]);
  expect(await loop.state('s')).toBe('idle');
  expect(await loop.ask({ sessionId: 's', prompt: 'Go on' })).toMatchObject({ text: 'on' });
}

function slowAppends(isSlow: () => number): SessionStore {
  const { sessions } = world;
  return {
    ...sessions,
    async append(...args: Parameters<SessionStore['append']>) {
      await sleep(isSlow());
      return sessions.append(...args);
    },
  };
}

describe('a session in which somebody answers late', () => {
  it.each(['later', true] as const)('can be gone on with after %s', async (answer) => {
    const controller = new AbortController();
    let answered = () => {};
    const hasAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const loop = world.loop(PAY, {
      async approve({ signal }) {
        controller.abort();
        await new Promise((resolve) => setImmediate(resolve));
        expect(signal.aborted).toBe(true);
        await sleep(30);
        setTimeout(answered, 10);
        return answer;
      },
    });
    const input = { sessionId: 's', prompt: 'Pay', abortSignal: controller.signal };
    expect(doneOf(await eventsOf(loop.run(input)))).toMatchObject({ end: 'aborted' });
    await hasAnswered;
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it('can be gone on with when the time was up, and the answer is later', async () => {
    const loop = world.loop(PAY, {
      limits: { maxMs: 40 },
      approve: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('later'))),
    });
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Pay' }));
    expect(doneOf(events)).toMatchObject({ end: 'max_time' });
    await sleep(20);
    await expectSound();
  });

  const hang = defineTool({
    name: 'hang',
    description: 'Hangs.',
    input: z.object({}),
    capabilities: {},
    async execute(_args, { abortSignal }) {
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      return ok('ended');
    },
  });

  it.each(inCheck([0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 50], (ms) => ms % 20 === 0))(
    'can be gone on with when it is decided %i ms after an abort',
    async (delay) => {
      world.registry.register(hang);
      const controller = new AbortController();
      let slow = 0;
      const loop = world.loop([{ calls: [...PAID, { id: 'h', name: 'hang' }] }], {
        sessions: slowAppends(() => slow),
      });
      const decisions: Promise<unknown>[] = [];
      const input = { sessionId: 's', prompt: 'Pay', abortSignal: controller.signal };
      for await (const event of loop.run(input)) {
        if (event.type !== 'approval') continue;
        const { approval } = event;
        slow = 15;
        controller.abort();
        const decide = async () => {
          await sleep(delay);
          await loop.decide('s', approval, { approved: true });
        };
        decisions.push(decide().then(() => undefined, errorCodeOf));
      }
      expect([undefined, 'APPROVAL_INVALID']).toContain((await Promise.all(decisions))[0]);
      slow = 0;
      await expectSound();
    },
  );

  it('is decided on by one of a yes and a no that come at once', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    world.registry.register(
      defineTool({
        name: 'hang',
        description: 'Hangs.',
        input: z.object({}),
        capabilities: {},
        async execute() {
          await opened;
          return ok('ended');
        },
      }),
    );
    const loop = world.loop([{ calls: [...PAID, { id: 'h', name: 'hang' }] }, { text: 'ok' }]);
    let results: string[] = [];
    for await (const event of loop.run({ sessionId: 's', prompt: 'Pay' })) {
      if (event.type !== 'approval') continue;
      const both = [false, true].map((approved) => loop.decide('s', event.approval, { approved }));
      results = (await Promise.allSettled(both)).map(({ status }) => status);
      open();
    }
    expect(results).toEqual(['fulfilled', 'rejected']);
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it.each(['the same process', 'another process'])(
    'is not run once %s has refused it, whatever `approve` says then',
    async (where) => {
      await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
      const other = world.loop([]);
      const loop = world.loop([{ text: 'ok' }], {
        async approve() {
          const decides = where === 'another process' ? other : loop;
          await decideOn(decides, 's', { toolCallId: 'p', approved: false, reason: 'too much' });
          return true;
        },
      });
      const events = await eventsOf(loop.resume({ sessionId: 's' }));
      expect(world.ran).toEqual([]);
      expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'ok' });
      const error = 'the call did not run: it was refused: too much';
      expect(ofType(events, 'tool_end').map(({ result }) => result)).toEqual([
        { ok: false, code: 'not_available', error, cause: 'NOT_APPROVED' },
      ]);
      await expectSound();
    },
  );

  // It shares no state with this one but the store.
  const otherProcess = () => world.loop([], { sessions: { ...world.sessions } });
  const places = ['the same process', 'another process'];
  const questionOf = async (loop: AgentLoop) => {
    const [question] = await loop.pending('s');
    if (question === undefined) throw new Error('nothing waits');
    return question;
  };
  const others = { approved: true, args: { amount: 2 } };
  /** The result of the one call when the turn goes on. */
  const resultOf = async (loop: AgentLoop) => {
    const [end] = ofType(await eventsOf(loop.resume({ sessionId: 's' })), 'tool_end');
    return JSON.stringify(end?.result);
  };

  it.each(places)('is not run once %s has withdrawn it', async (where) => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const loop = world.loop([{ text: 'ok' }], {
      async approve() {
        const other = where === 'another process' ? otherProcess() : loop;
        expect(await other.withdraw('s', await questionOf(other))).toBe(true);
        return true;
      },
    });
    expect(await resultOf(loop)).toMatch(/request for its approval was withdrawn/);
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it('is not run if it is withdrawn while its start is recorded', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    await decideOn(world.loop([]), 's', { toolCallId: 'p', approved: true });
    const { sessions } = world;
    const loop = world.loop([{ text: 'ok' }], {
      sessions: {
        ...sessions,
        async append(...args: Parameters<SessionStore['append']>) {
          if (JSON.stringify(args[1]).includes('"started"')) {
            await loop.withdraw('s', await questionOf(loop));
          }
          return sessions.append(...args);
        },
      },
    });
    expect(await resultOf(loop)).toMatch(/request for its approval was withdrawn/);
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it('runs with the arguments of the first yes, and the model reads which', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const loop = world.loop([{ text: 'ok' }], {
      async approve() {
        await loop.decide('s', await questionOf(loop), others);
        return true;
      },
    });
    const events = await eventsOf(loop.resume({ sessionId: 's' }));
    expect(world.ran).toEqual(['pay 2']);
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'ok' });
    await expectSound();
  });

  it('does not run with its own arguments once another process has approved others', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const loop = world.loop([{ text: 'ok' }], {
      async approve() {
        const other = otherProcess();
        await other.decide('s', await questionOf(other), others);
        return true;
      },
    });
    expect(await resultOf(loop)).toMatch(/approved with other arguments meanwhile/);
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it('is not run when `approve` refuses what was approved meanwhile', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const loop = world.loop([{ text: 'ok' }], {
      async approve() {
        await decideOn(loop, 's', { toolCallId: 'p', approved: true });
        return false;
      },
    });
    await eventsOf(loop.resume({ sessionId: 's' }));
    expect(world.ran).toEqual([]);
    await expectSound();
  });

  it('runs when it is approved meanwhile, and `approve` says later', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const loop = world.loop([{ text: 'ok' }], {
      async approve() {
        await decideOn(world.loop([]), 's', { toolCallId: 'p', approved: true });
        return 'later' as const;
      },
    });
    const events = await eventsOf(loop.resume({ sessionId: 's' }));
    expect(doneOf(events).end).toBe('answered');
    expect(world.ran).toEqual(['pay 1']);
    await expectSound();
  });

  it('is decided on once by two processes that come at once', async () => {
    await eventsOf(world.loop(PAY).run({ sessionId: 's', prompt: 'Pay' }));
    const results = await Promise.allSettled(
      [false, true].map((approved) => decideOn(world.loop([]), 's', { toolCallId: 'p', approved })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

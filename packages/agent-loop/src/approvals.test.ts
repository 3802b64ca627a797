import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { errorCodeOf } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentLoopOptions } from './api.js';
import { decideOn } from './fixtures/decide-on.js';
import { expectWellFormed } from './fixtures/well-formed.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const PAYS = [
  {
    calls: [
      { id: 'p1', name: 'pay', args: { amount: 1 } },
      { id: 'e1', name: 'echo', args: { text: 'a' } },
      { id: 'p2', name: 'pay', args: { amount: 2 } },
    ],
  },
];

async function paused() {
  const loop = world.loop(PAYS);
  const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Pay' }));
  return { loop, events };
}

async function resumed(options: Partial<AgentLoopOptions> = {}) {
  const loop = world.loop([{ text: 'ok' }], options);
  return eventsOf(loop.resume({ sessionId: 's' }));
}

async function codeOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => 'no error',
    (error: unknown) => errorCodeOf(error),
  );
}

describe('a call that needs approval', () => {
  it('waits, while the others of its step run', async () => {
    const { loop, events } = await paused();
    expect(world.ran).toEqual(['echo a']);
    expect(doneOf(events)).toMatchObject({ end: 'paused' });
    const approvals = ofType(events, 'approval').map(({ approval }) => approval);
    expect(approvals).toEqual(await loop.pending('s'));
    expect(approvals.map(({ askedAt: _, ...rest }) => rest)).toEqual([
      {
        toolCallId: 'p1',
        question: expect.any(String),
        toolName: 'pay',
        args: { amount: 1 },
        input: { amount: 1 },
        tool: expect.any(String),
        personalityId: 'tester',
        capabilities: {},
        reason: 'the tool always requires approval',
        turn: 1,
      },
      {
        toolCallId: 'p2',
        question: expect.any(String),
        toolName: 'pay',
        args: { amount: 2 },
        input: { amount: 2 },
        tool: expect.any(String),
        personalityId: 'tester',
        capabilities: {},
        reason: 'the tool always requires approval',
        turn: 1,
      },
    ]);
    expect(await loop.state('s')).toBe('paused');
    expect(await codeOf(eventsOf(loop.run({ sessionId: 's', prompt: 'x' })))).toBe('TURN_INVALID');
  });

  it('runs once it is approved, and is answered once it is refused', async () => {
    const { loop } = await paused();
    await decideOn(loop, 's', { toolCallId: 'p1', approved: true });
    await decideOn(loop, 's', { toolCallId: 'p2', approved: false, reason: 'too much' });
    const events = await resumed();
    expect(world.ran).toEqual(['echo a', 'pay 1']);
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'ok' });
    expect(
      ofType(events, 'tool_end').map(({ toolCallId, result }) => [toolCallId, result]),
    ).toEqual([
      [
        'p2',
        {
          ok: false,
          code: 'not_available',
          error: 'the call did not run: it was refused: too much',
          cause: 'NOT_APPROVED',
        },
      ],
      ['p1', { ok: true, value: 'paid 1', cost_usd: 0.5 }],
    ]);
    await expectWellFormed(world);
  });

  it('goes on waiting while others are done', async () => {
    const { loop } = await paused();
    await decideOn(loop, 's', { toolCallId: 'p2', approved: true });
    expect(doneOf(await resumed())).toMatchObject({
      end: 'paused',
      approvals: [{ toolCallId: 'p1' }],
    });
    expect(world.ran).toEqual(['echo a', 'pay 2']);
    expect(doneOf(await resumed())).toMatchObject({ end: 'paused' });
    await decideOn(loop, 's', { toolCallId: 'p1', approved: true });
    expect(doneOf(await resumed())).toMatchObject({ end: 'answered' });
    expect(world.ran).toEqual(['echo a', 'pay 2', 'pay 1']);
  });

  it('is asked about at once where somebody can be', async () => {
    const asked: unknown[] = [];
    const loop = world.loop(PAYS, {
      approve: ({ args }) => {
        asked.push(args);
        return asked.length === 1 ? { approved: false, reason: 'no' } : true;
      },
    });
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Pay' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered' });
    expect(asked).toEqual([{ amount: 1 }, { amount: 2 }]);
    expect([...world.ran].sort()).toEqual(['echo a', 'pay 2']);
    expect(ofType(events, 'approval')).toEqual([]);
  });

  it.each([
    ['later', () => 'later' as const, 'paused'],
    ['a throw', () => Promise.reject(new Error('no')), 'answered'],
    ['nothing', () => JSON.parse('null'), 'answered'],
  ])('does not run for %s', async (_name, approve, end) => {
    const loop = world.loop(PAYS, { approve });
    expect(doneOf(await eventsOf(loop.run({ sessionId: 's', prompt: 'Pay' }))).end).toBe(end);
    expect(world.ran).toEqual(['echo a']);
  });

  it('is asked again by whoever resumes with somebody to ask', async () => {
    await paused();
    expect(doneOf(await resumed({ approve: () => true }))).toMatchObject({ end: 'answered' });
    expect([...world.ran].sort()).toEqual(['echo a', 'pay 1', 'pay 2']);
  });

  it('can be decided while the turn runs', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    world.registry.register(
      defineTool({
        name: 'slow',
        description: 'Is slow.',
        input: z.object({}),
        capabilities: {},
        async execute() {
          await opened;
          return ok('slow');
        },
      }),
    );
    const loop = world.loop([
      { calls: [{ id: 'p1', name: 'pay', args: { amount: 1 } }, { name: 'slow' }] },
      { text: 'ok' },
    ]);
    // For the session, this is another process.
    const other = world.loop([]);
    const events = [];
    for await (const event of loop.run({ sessionId: 's', prompt: 'Pay' })) {
      events.push(event);
      if (event.type !== 'approval') continue;
      await decideOn(other, 's', { toolCallId: 'p1', approved: true });
      open();
    }
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'ok' });
    expect(world.ran).toEqual(['pay 1']);
  });

  it.each<[string, (loop: Awaited<ReturnType<typeof paused>>['loop']) => Promise<unknown>]>([
    ['of an unknown call', (loop) => decideOn(loop, 's', { toolCallId: 'x', approved: true })],
    [
      'of a call that does not wait',
      (loop) => decideOn(loop, 's', { toolCallId: 'e1', approved: true }),
    ],
    ['of an unknown session', (loop) => decideOn(loop, 't', { toolCallId: 'p1', approved: true })],
  ])('is not decided by a decision %s', async (_name, decide) => {
    const { loop } = await paused();
    expect(await codeOf(decide(loop))).toBe('APPROVAL_INVALID');
  });

  it('is not decided by a yes to another question, nor by what is neither yes nor no', async () => {
    const { loop } = await paused();
    const [first, second] = await loop.pending('s');
    if (first === undefined || second === undefined) throw new Error('nothing waits');
    expect(first.question).not.toBe(second.question);
    const stale = { toolCallId: first.toolCallId, question: second.question };
    expect(await codeOf(loop.decide('s', stale, { approved: true }))).toBe('APPROVAL_INVALID');
    for (const approved of [undefined, null, 1, 'true']) {
      const decision = Object({ approved });
      expect(await codeOf(loop.decide('s', first, decision)), `${approved}`).toBe(
        'APPROVAL_INVALID',
      );
    }
    expect((await loop.pending('s')).map(({ decision }) => decision)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is decided once', async () => {
    const { loop } = await paused();
    await decideOn(loop, 's', { toolCallId: 'p1', approved: false });
    await decideOn(loop, 's', { toolCallId: 'p1', approved: false });
    expect(await codeOf(decideOn(loop, 's', { toolCallId: 'p1', approved: true }))).toBe(
      'ALREADY_DECIDED',
    );
    await decideOn(loop, 's', { toolCallId: 'p2', approved: true });
    await resumed();
    expect(world.ran).toEqual(['echo a', 'pay 2']);
    expect(await codeOf(decideOn(loop, 's', { toolCallId: 'p2', approved: false }))).toBe(
      'APPROVAL_INVALID',
    );
  });

  it('is decided by two at once without a loss', async () => {
    await paused();
    await Promise.all([
      decideOn(world.loop([]), 's', { toolCallId: 'p1', approved: true }),
      decideOn(world.loop([]), 's', { toolCallId: 'p2', approved: true }),
    ]);
    expect((await world.loop([]).pending('s')).map(({ decision }) => decision?.approved)).toEqual([
      true,
      true,
    ]);
  });

  const other = (change: object) =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ amount: z.number() }),
      capabilities: {},
      requiresApproval: true,
      async execute({ amount }) {
        world.ran.push(`other pay ${amount}`);
        return ok('paid');
      },
      ...change,
    });
  it.each([
    ['capabilities', { capabilities: { network: { allowedHosts: ['bank.example'] } } }],
    ['reason', { requiresApproval: () => 'it is dear' }],
    ['description', { description: 'Pays somebody else.' }],
    ['schema', { input: z.object({ amount: z.number(), to: z.string().default('me') }) }],
  ])('of another %s than was approved is asked about again', async (_name, change) => {
    const { loop } = await paused();
    await decideOn(loop, 's', { toolCallId: 'p1', approved: true });
    await decideOn(loop, 's', { toolCallId: 'p2', approved: false });
    world.registry.register(other(change));
    expect(doneOf(await resumed())).toMatchObject({
      end: 'paused',
      approvals: [{ toolCallId: 'p1' }],
    });
    expect(world.ran).toEqual(['echo a']);
    await decideOn(loop, 's', { toolCallId: 'p1', approved: true });
    expect(doneOf(await resumed())).toMatchObject({ end: 'answered' });
    expect(world.ran).toEqual(['echo a', 'other pay 1']);
  });

  it('is refused when the turn is given up', async () => {
    const { loop } = await paused();
    await decideOn(loop, 's', { toolCallId: 'p1', approved: true });
    await loop.abandon('s');
    expect(await loop.state('s')).toBe('idle');
    expect(await loop.pending('s')).toEqual([]);
    expect(await codeOf(loop.abandon('s'))).toBe('TURN_INVALID');
    expect(await codeOf(eventsOf(loop.resume({ sessionId: 's' })))).toBe('TURN_INVALID');
    await expectWellFormed(world);
    expect(await loop.ask({ sessionId: 's', prompt: 'Hi' })).toMatchObject({ end: 'answered' });
    expect(world.ran).toEqual(['echo a']);
  });

  it('that another owner decides on is not theirs', async () => {
    await paused();
    const stranger = world.loop([], { identity: { userScopeId: 'mallory' } });
    expect(await codeOf(stranger.pending('s'))).toBe('SESSION_OWNER_MISMATCH');
    expect(await codeOf(decideOn(stranger, 's', { toolCallId: 'p1', approved: true }))).toBe(
      'SESSION_OWNER_MISMATCH',
    );
    expect(await codeOf(eventsOf(stranger.resume({ sessionId: 's' })))).toBe(
      'SESSION_OWNER_MISMATCH',
    );
    expect(await codeOf(stranger.abandon('s'))).toBe('SESSION_OWNER_MISMATCH');
  });
});

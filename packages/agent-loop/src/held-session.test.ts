import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { errorCodeOf } from '@ethosagent/types';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { doneOf, eventsOf, failingAt, ofType, World } from './fixtures/world.js';

const calls = (...texts: string[]) => [
  { calls: texts.map((text, n) => ({ id: `c${n}`, name: 'echo', args: { text } })) },
  { text: 'done' },
];
const codeOf = (work: Promise<unknown>) => work.then(() => 'done', errorCodeOf);

describe('a session that is held', () => {
  let world: World;
  afterEach(() => world.close());

  it('is run by its owner alone, and by everybody once it is released', async () => {
    world = new World();
    const loop = world.loop(calls('a'));
    const held = await loop.hold('s', 60_000);
    if (held === undefined) throw new Error('it is held already');
    expect(await loop.hold('s', 60_000)).toBeUndefined();
    const other = world.loop(calls('b'));
    expect(await codeOf(eventsOf(other.run({ sessionId: 's', prompt: 'x' })))).toBe(
      'SESSION_TAKEN',
    );
    expect(doneOf(await eventsOf(loop.run({ sessionId: 's', prompt: 'x', claim: held }))).end).toBe(
      'answered',
    );
    await loop.release(held);
    expect(() => held.assertHeld()).toThrow('SESSION_TAKEN');
    expect(doneOf(await eventsOf(other.run({ sessionId: 's', prompt: 'y' }))).end).toBe('answered');
    expect(world.ran).toEqual(['echo a', 'echo b']);
  });

  it('takes a decision from anybody, and one decision alone', async () => {
    world = new World();
    const pay = [{ calls: [{ id: 'p', name: 'pay', args: { amount: 1 } }] }, { text: 'paid' }];
    const loop = world.loop(pay);
    const held = await loop.hold('s', 60_000);
    const claim = held === undefined ? {} : { claim: held };
    await eventsOf(loop.run({ sessionId: 's', prompt: 'x', ...claim }));
    const other = world.loop([]);
    const [approval] = await other.pending('s');
    if (approval === undefined) throw new Error('nothing waits');
    await other.decide('s', approval, { approved: true });
    expect(await codeOf(other.decide('s', approval, { approved: false }))).toBe('ALREADY_DECIDED');
    expect(doneOf(await eventsOf(loop.resume({ sessionId: 's', ...claim }))).end).toBe('answered');
    expect(world.ran).toEqual(['pay 1']);
  });

  it('that is lost begins no call, and no access of one that runs', async () => {
    let lose = () => {};
    const refused: unknown[] = [];
    const input = z.object({});
    world = new World({
      tools: [
        defineTool({
          name: 'late',
          description: 'Writes after its session is lost.',
          input,
          capabilities: { fs_reach: { write: 'from-personality', read: 'from-personality' } },
          async execute(_, ctx) {
            await ctx.scopedFs.write(`${ctx.workingDir}/before`, 'x');
            lose();
            for (const access of [
              () => ctx.scopedFs.write(`${ctx.workingDir}/after`, 'x'),
              () => ctx.scopedFs.read(`${ctx.workingDir}/before`),
            ]) {
              await access().catch((error: unknown) => refused.push(errorCodeOf(error)));
            }
            return ok('wrote');
          },
        }),
      ],
    });
    const script = [{ calls: [{ id: 'l', name: 'late', args: {} }] }, ...calls('a')];
    const loop = world.loop(script);
    const held = await loop.hold('s', 60_000);
    if (held === undefined) throw new Error('it is held already');
    lose = () => held.lose();
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'x', claim: held }));
    expect(refused).toEqual(['SESSION_TAKEN', 'SESSION_TAKEN']);
    expect(ofType(events, 'error')[0]?.error.code).toBe('SESSION_TAKEN');
    expect(doneOf(events).end).toBe('failed');
    expect(world.text('before')).toBe('x');
    expect(() => world.text('after')).toThrow();
    // Its end was not recorded, so the next process reports that it may have run.
    await loop.release(held);
    const next = await loop.hold('t', 60_000);
    expect(next).toBeDefined();
  });

  it('is over when its lease is, whatever the store would say', async () => {
    world = new World();
    const loop = world.loop(calls('a'));
    const held = await loop.hold('s', 1);
    while (held?.isHeld === true) await new Promise((resolve) => setTimeout(resolve, 1));
    const turn = loop.run({ sessionId: 's', prompt: 'x', ...(held && { claim: held }) });
    expect(await codeOf(eventsOf(turn))).toBe('SESSION_TAKEN');
    expect(world.ran).toEqual([]);
  });
});

describe('a turn with a key', () => {
  let world: World;
  afterEach(() => world.close());

  it('is begun once, gone on with, and over', async () => {
    world = new World();
    const input = { sessionId: 's', prompt: 'x', key: 'k' };
    for await (const event of world.loop(calls('a')).run(input)) if (event.type === 'step') break;
    const again = await eventsOf(world.loop(calls('a')).run(input));
    expect(again[0]).toMatchObject({ type: 'start', turn: 1, resumed: true });
    expect(doneOf(again).end).toBe('answered');
    const over = await eventsOf(world.loop(calls('b')).run(input));
    expect(over).toMatchObject([{ type: 'done', end: 'answered', text: 'done', turn: 1 }]);
    await eventsOf(world.loop([]).run({ sessionId: 's', prompt: 'y' }));
    expect(await eventsOf(world.loop(calls('b')).run(input))).toMatchObject([
      { type: 'done', turn: 1 },
    ]);
    expect(world.ran).toEqual(['echo a']);
  });
});

describe('an idempotent tool', () => {
  let world: World;
  afterEach(() => world.close());
  const keys: (string | undefined)[] = [];
  const tool = (description: string) =>
    defineTool({
      name: 'keyed',
      description,
      input: z.object({}),
      capabilities: {},
      idempotent: true,
      async execute(_, ctx) {
        keys.push(ctx.idempotencyKey);
        return ok('once');
      },
    });
  const script = [
    { calls: [{ id: 'a', name: 'keyed', args: {} }] },
    { calls: [{ id: 'b', name: 'keyed', args: {} }] },
    { text: 'done' },
  ];

  it('has another key in a new session of the same id', async () => {
    keys.length = 0;
    world = new World({ tools: [tool('Does it.')] });
    for (let time = 1; time <= 2; time++) {
      await eventsOf(world.loop(script).run({ sessionId: 's', prompt: 'x' }));
      await world.sessions.delete('s');
      // The time is what tells them apart.
      const ended = Date.now();
      while (Date.now() === ended) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(keys).size).toBe(4);
  });

  it.each([
    ['the same', 'Does it.', 3],
    ['another one by then', 'Does something else.', 2],
  ])('that was interrupted, and is %s, runs %s', async (_, description, runs) => {
    keys.length = 0;
    world = new World({ tools: [tool('Does it.')] });
    // As after a crash: the call began and ran, and its result was not recorded.
    const broken = world.loop(script.slice(0, 1), { sessions: failingAt(world.sessions, 3) });
    await eventsOf(broken.run({ sessionId: 's', prompt: 'x' }));
    expect(keys).toHaveLength(1);
    world.registry.registerAll([tool(description)]);
    const events = await eventsOf(world.loop(script.slice(1)).resume({ sessionId: 's' }));
    expect(doneOf(events).end).toBe('answered');
    expect(keys).toHaveLength(runs);
    expect(keys[0]).toMatch(/^[\w-]{43}$/);
    expect(keys.filter((key) => key === keys[0])).toHaveLength(runs - 1);
    const [first] = ofType(events, 'tool_end');
    expect(first?.result.ok).toBe(runs === 3);
  });
});

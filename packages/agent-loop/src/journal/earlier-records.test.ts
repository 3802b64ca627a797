import { inCheck, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doneOf, eventsOf, ofType, World } from '../fixtures/world.js';
import { parseEarlier } from './earlier-records.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
const call = (id: string, name: string, input: object) => ({ type: 'call', id, name, input });
const step = (at: number, ...parts: object[]) => ({
  kind: 'step',
  turn: 1,
  step: at,
  parts,
  usage,
  finish: 'tool-calls',
});
const asked = (id: string, toolName: string, args: object) => ({
  kind: 'asked',
  turn: 1,
  approval: {
    toolCallId: id,
    question: `q ${id}`,
    toolName,
    args,
    tool: 't',
    personalityId: 'tester',
    capabilities: {},
    reason: 'it always asks',
    askedAt: 1_795_510_054_139,
  },
});
const decided = (id: string, rest: object) => ({
  kind: 'decided',
  turn: 1,
  call: id,
  question: `q ${id}`,
  ...rest,
});
const PAY: readonly object[] = [
  { kind: 'user', turn: 1, prompt: 'Pay', personality: 'tester' },
  step(1, call('p', 'pay', { amount: 1 })),
  asked('p', 'pay', { amount: 1 }),
];

/** A session that was written by a version which kept questions in the journal. */
async function written(...records: readonly object[]): Promise<void> {
  await world.sessions.append(
    { id: 's', scopeId: 'personality:tester' },
    records.map((record) => ({ role: 'system', text: '', data: { v: 1, ...record } })),
  );
}

describe('a session with questions in its journal', () => {
  const ANSWERS: [string, object[]][] = [
    ['nobody answered', []],
    ['was answered with yes', [decided('p', { approved: true })]],
    ['was answered with other arguments', [decided('p', { approved: true, args: { amount: 9 } })]],
    ['was answered with no', [decided('p', { approved: false, reason: 'no' })]],
  ];

  // An approval is the dangerous case: it could let too much run.
  it.each(inCheck(ANSWERS, ([what]) => what.endsWith('yes')))(
    'asks again where the question %s, and then runs what the model gave',
    async (_, more) => {
      await written(...PAY, ...more);
      const loop = world.loop([{ text: 'Paid.' }]);
      expect(await loop.state('s')).toBe('unfinished');
      const again = await eventsOf(loop.resume({ sessionId: 's' }));
      expect(ofType(again, 'approval')).toMatchObject([{ approval: { args: { amount: 1 } } }]);
      expect([world.ran, await loop.state('s')]).toEqual([[], 'paused']);
      const [approval = expect.fail('nothing waits')] = await loop.pending('s');
      // The question that was shown then can't be answered now.
      const stale = { toolCallId: 'p', question: 'q p' };
      await expect(loop.decide('s', stale, { approved: true })).rejects.toMatchObject({
        code: 'APPROVAL_INVALID',
      });
      await loop.decide('s', approval, { approved: true });
      const done = await eventsOf(loop.resume({ sessionId: 's' }));
      expect([doneOf(done).end, world.ran]).toEqual(['answered', ['pay 1']]);
    },
  );

  it.runIf(isLongRun())(
    'goes on after a turn that is over, and knows from where its content came',
    async () => {
      const [trusted, evil] = [{ url: 'https://docs.example/' }, { url: 'https://evil.example/' }];
      await written(
        { kind: 'user', turn: 1, prompt: 'Read', personality: 'tester' },
        step(1, call('f', 'fetch_page', trusted)),
        asked('f', 'fetch_page', trusted),
        decided('f', { approved: true, args: evil, runs: 'other' }),
        { kind: 'resumed', turn: 1 },
        { kind: 'started', turn: 1, calls: ['f'] },
        { kind: 'result', turn: 1, call: 'f', output: 'a page', ok: true, untrusted: true },
        { ...step(2, { type: 'text', text: 'Read.' }), finish: 'stop' },
        { kind: 'end', turn: 1, end: 'answered' },
      );
      const write = { name: 'write_note', args: { path: 'a.txt', text: 'a' } };
      const loop = world.loop([{ calls: [write] }]);
      const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Write' }));
      const [question] = ofType(events, 'approval');
      expect(question?.approval.reason).toContain(evil.url);
      expect(question?.approval.reason).not.toContain(trusted.url);
      expect(world.ran).toEqual([]);
    },
  );

  const DAMAGED: [string, object[]][] = [
    ['a question of no call', PAY.slice(0, 1).concat(asked('p', 'pay', {}))],
    ['a decision that has no shape', [...PAY, { kind: 'decided', turn: 1, call: 'p' }]],
  ];

  it.each(inCheck(DAMAGED, ([what]) => what.includes('no call')))(
    'is damaged with %s',
    async (_, records) => {
      await written(...records);
      await expect(world.loop([]).state('s')).rejects.toMatchObject({ code: 'TURN_INVALID' });
    },
  );
});

describe('parseEarlier', () => {
  it.each([undefined, [], {}, { v: 2, kind: 'asked' }, { v: 1, kind: 'asked', turn: 1 }])(
    'takes no invalid record: %j',
    (data) => expect(parseEarlier(data)).toBeUndefined(),
  );
});

import { describe, expect, it } from 'vitest';
import { modelMessages } from '../model/messages.js';
import type { AgentRecord, StepCall } from './records.js';
import { SessionLog } from './session-log.js';

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
const user = (turn: number): AgentRecord => ({ kind: 'user', turn, prompt: 'Hi' });
const step = (turn: number, ...ids: string[]): AgentRecord => ({
  kind: 'step',
  turn,
  step: 1,
  parts: ids.map((id): StepCall => ({ type: 'call', id, name: 'shot', input: {} })),
  usage,
  finish: 'tool-calls',
});
const result = (call: string, images: string[] = [], turn = 1): AgentRecord => ({
  kind: 'result',
  turn,
  call,
  output: 'x',
  ok: true,
  images: images.map((data) => ({ mediaType: 'image/png', data })),
});
const end = (turn = 1): AgentRecord => ({ kind: 'end', turn, end: 'answered' });
const started = (call: string): AgentRecord => ({ kind: 'started', turn: 1, calls: [call] });

function logOf(records: readonly AgentRecord[], options?: { history: boolean }): SessionLog {
  const log = new SessionLog(options);
  for (const [index, record] of records.entries()) log.apply(record, index + 1);
  return log;
}

describe('SessionLog', () => {
  const shorter = (...cleared: string[]): AgentRecord => ({ kind: 'context', turn: 1, cleared });
  const open = [user(1), step(1, 'a', 'b')];

  it.each<[string, AgentRecord[], AgentRecord, boolean]>([
    ['a step before a turn', [], step(1), false],
    ['a second turn before the end of the first', [user(1)], user(2), false],
    ['a second turn after it', [user(1), step(1), end()], user(2), true],
    ['a turn that is left out', [], user(2), false],
    ['a step while calls are open', open, step(1), false],
    ['a call whose id came before', [...open, result('a'), result('b')], step(1, 'a'), false],
    ['a step with an id twice', [user(1)], step(1, 'a', 'a'), false],
    ['a start of a call that has its result', [...open, result('a')], started('a'), false],
    ['a start of a call', open, started('a'), true],
    ['a result of no call', open, result('c'), false],
    ['a second result', [...open, result('a')], result('a'), false],
    ['a shorter history while calls are open', open, shorter(), false],
    ['a shorter history', [...open, result('a'), result('b')], shorter('a'), true],
    ['a cleared result of no call', [...open, result('a'), result('b')], shorter('z'), false],
    ['a shorter history after the end', [user(1), step(1), end()], shorter(), false],
    ['an end while calls are open', [...open, result('a')], end(), false],
    ['an end', [...open, result('a'), result('b')], end(), true],
    ['anything after the end', [user(1), step(1), end()], { kind: 'resumed', turn: 1 }, false],
    [
      'what sub-agents used after the end',
      [user(1), step(1), end()],
      { kind: 'delegated', turn: 1, begun: 0, usage },
      false,
    ],
  ])('and its rules take %s or not', (_name, before, record, isTaken) => {
    const log = logOf(before);
    const rules = log.rules();
    expect(rules.take(record)).toBe(isTaken);
    const apply = () => log.apply(record, before.length + 1);
    if (isTaken) apply();
    else expect(apply).toThrow(expect.objectContaining({ code: 'TURN_INVALID' }));
  });

  it('has rules that change nothing of it', () => {
    const log = logOf(open);
    const rules = log.rules();
    for (const record of [result('a'), result('b'), end(), user(2), step(2, 'c')])
      expect(rules.take(record)).toBe(true);
    expect(log.hasCall('c')).toBe(false);
    expect(log.openCalls()).toHaveLength(2);
    expect(log.rules().take(started('a'))).toBe(true);
  });

  it('keeps what the last images are made of: half as many characters as a request takes, once there are more', () => {
    const large = (name: string) => name.repeat(6_000_000);
    const log = logOf([
      ...[user(1), step(1, 'a', 'b')],
      Object.assign(result('a', [large('1'), '2']), { note: '[image 3 is left out]' }),
      result('b', [large('3'), large('4'), '5']),
    ]);
    const kept = log.turn?.step?.calls.map(({ result }) =>
      result?.images?.map(({ data }) => data[0]),
    );
    expect(kept).toEqual([[], ['4', '5']]);
    const told = JSON.stringify(modelMessages(log.entries, { images: ['image/png'] }));
    expect(told.match(/an image of this result is no longer shown/g)).toHaveLength(2);
    expect(told).toContain('[image 3 is left out]');
  });

  it('without a history keeps neither texts nor images, and knows what began', () => {
    const records = [...open, started('a'), result('b', ['1'])];
    const log = logOf(records, { history: false });
    expect(modelMessages(log.entries, { images: ['image/png'] })).toEqual([]);
    expect(JSON.stringify(log.turn)).not.toContain('image/png');
    expect(log.openCalls()).toMatchObject([{ call: { id: 'a' }, started: true }]);
    expect(log.rules().take(step(1, 'b'))).toBe(false);
  });
});

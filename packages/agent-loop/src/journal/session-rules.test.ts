import { describe, expect, it } from 'vitest';
import type { AgentRecord } from './records.js';
import { SessionRules } from './session-rules.js';

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
const started: AgentRecord = { kind: 'started', turn: 1, calls: ['c'] };
const decided = (approved: boolean, question = 'q'): AgentRecord => ({
  kind: 'decided',
  turn: 1,
  call: 'c',
  question,
  approved,
});
const asked = (question: string): AgentRecord => ({
  kind: 'asked',
  turn: 1,
  approval: {
    toolCallId: 'c',
    question,
    toolName: 'pay',
    args: {},
    capabilities: {},
    reason: 'why',
    askedAt: 1,
  },
});

/** The rules of a session in which a call waits for a decision. */
function waiting(): SessionRules {
  const rules = new SessionRules();
  const call = { type: 'call' as const, id: 'c', name: 'pay', input: {} };
  const parts = [call];
  rules.take({ kind: 'user', turn: 1, prompt: 'Pay', personality: 'p' });
  rules.take({ kind: 'step', turn: 1, step: 1, parts, usage, finish: 'tool-calls' });
  rules.take(asked('q'));
  return rules;
}

describe('SessionRules.take', () => {
  it.each<[name: string, before: AgentRecord[], last: AgentRecord, is: boolean]>([
    ['a yes', [], decided(true), true],
    ['a no', [], decided(false), true],
    ['a yes to another question', [], decided(true, 'old'), false],
    ['the same yes again', [decided(true)], decided(true), true],
    ['a no after a yes', [decided(true)], decided(false), false],
    ['a yes after a no', [decided(false)], decided(true), false],
    [
      'a call that was asked about anew, and a no',
      [decided(true), asked('r')],
      decided(false, 'r'),
      true,
    ],
    ['a start after a yes', [decided(true)], started, true],
    ['a start after a no', [decided(false)], started, false],
    ['the same yes after the start', [decided(true), started], decided(true), true],
    ['a no after the start', [decided(true), started], decided(false), false],
    ['a no to what began without a decision', [started], decided(false), false],
    ['a yes to what began without a decision', [started], decided(true), false],
  ])('of %s says what may follow', (_, before, last, is) => {
    const rules = waiting();
    for (const record of before) expect(rules.take(record)).toBe(true);
    expect(rules.fork().take(last)).toBe(is);
    expect(rules.take(last)).toBe(is);
  });
});

import type { CallDecision, PendingApproval } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { answerApproval } from './answer-approval.js';

const APPROVAL: PendingApproval = {
  toolCallId: 'c1',
  question: 'q1',
  toolName: 'pay',
  args: {},
  input: {},
  capabilities: {},
  reason: 'it pays',
  askedAt: 0,
};

/** Answers a suspended call in a session that waits for one approval. */
async function answer(suspendPayload: unknown, waiting: PendingApproval = APPROVAL) {
  const asked: string[] = [];
  const decided: CallDecision[] = [];
  const session = {
    pending: async () => [waiting],
    decide: async (_approval: PendingApproval, decision: CallDecision) =>
      void decided.push(decision),
  };
  const given = answerApproval(session, { suspendPayload }, ({ toolName }) => {
    asked.push(toolName);
    return { approved: true };
  });
  return { answer: await given.catch((error: unknown) => error), asked, decided };
}

const refused = { answer: { code: 'APPROVAL_INVALID' }, asked: [], decided: [] };

describe('answerApproval', () => {
  it('decides the question that is asked, also within the payloads of agents', async () => {
    const { toolCallId, question } = APPROVAL;
    for (const payload of [
      { toolCallId, question },
      { suspendPayload: { suspendPayload: { toolCallId, question } } },
    ]) {
      expect(await answer(payload)).toEqual({
        answer: { approved: true },
        asked: ['pay'],
        decided: [{ approved: true }],
      });
    }
  });

  it('decides no other question of the same call, and no other call', async () => {
    expect(await answer({ toolCallId: 'c1', question: 'q2' })).toMatchObject(refused);
    expect(await answer({ toolCallId: 'c2', question: 'q1' })).toMatchObject(refused);
  });

  it('asks nobody about what is decided already', async () => {
    const decision = { approved: false, reason: 'too much', by: 'ann' };
    expect(await answer({ toolCallId: 'c1', question: 'q1' }, { ...APPROVAL, decision })).toEqual({
      answer: { approved: false, reason: 'too much' },
      asked: [],
      decided: [],
    });
  });

  it('finds no question in a payload that contains itself', async () => {
    const payload: { suspendPayload?: unknown } = {};
    payload.suspendPayload = payload;
    expect(await answer(payload)).toMatchObject(refused);
  });
});

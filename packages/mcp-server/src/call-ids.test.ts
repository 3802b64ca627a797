import type { PendingApproval } from '@ethosagent/core';
import { expect, it } from 'vitest';
import { CallIds } from './call-ids.js';

const never = new AbortController().signal;
const CALL = { name: 'pay', args: { amount: 1 } };

it('a call takes the id of a waiting call that is decided before that of another one', async () => {
  const waiting: PendingApproval[] = [];
  const ids = new CallIds({ pending: async () => waiting });
  const next = () => ids.run(CALL, never, async (toolCallId) => toolCallId);
  const approvalOf = (toolCallId: string): PendingApproval => ({
    toolCallId,
    question: toolCallId,
    toolName: CALL.name,
    args: CALL.args,
    input: CALL.args,
    capabilities: {},
    reason: 'it pays',
    askedAt: 0,
  });
  const [first, second] = [await next(), await next()];
  expect(first).not.toBe(second);
  waiting.push(approvalOf(first));
  expect(await next()).toBe(first);
  waiting.push({ ...approvalOf(second), decision: { approved: true } });
  expect(await next()).toBe(second);
});

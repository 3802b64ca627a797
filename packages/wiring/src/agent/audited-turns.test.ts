import { MemoryAuditSink } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { type ScriptedStep, scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createToolsetHome } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent } from './create-agent.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ amount: z.number() }),
  capabilities: {},
  requiresApproval: true,
  execute: async ({ amount }) => ok(`paid ${amount}`),
});
const throwing = defineTool({
  name: 'throwing',
  description: 'Throws.',
  input: z.object({}),
  capabilities: {},
  async execute() {
    throw new TypeError('broken');
  },
});

let home: ReturnType<typeof createToolsetHome>;
let audit: MemoryAuditSink;
beforeEach(() => {
  home = createToolsetHome('pay', 'throwing', 'task');
  audit = new MemoryAuditSink();
});
afterEach(() => home.remove());

const start = (script: Parameters<typeof scriptedModel>[0], approve?: () => boolean) =>
  createAgent({
    home: home.home,
    personality: 'clerk',
    tools: [pay, throwing, 'task'],
    model: scriptedModel(script),
    audit,
    ...(approve !== undefined && { approve }),
  });

const CALLS = [
  ['pay', { amount: 1 }, 'paid'],
  ['pay', { amount: 'x' }, 'wrong'],
  ['pay', '{"amount":', 'torn'],
  ['gone', {}, 'unknown'],
  ['throwing', {}, 'threw'],
] satisfies ScriptedStep;
const EVENTS = [
  ['paid', 'ok'],
  ['threw', 'execution_failed'],
  ['torn', 'input_invalid'],
  ['unknown', 'not_available'],
  ['wrong', 'input_invalid'],
];
const events = () => audit.calls.map(({ toolCallId, outcome }) => [toolCallId, outcome]).sort();

describe('the audit has one event for each call', () => {
  it('of a turn', async () => {
    const agent = await start([CALLS, 'Done.'], () => true);
    await agent.loop.ask({ sessionId: 's', prompt: 'Go' });
    expect(events()).toEqual(EVENTS);
    expect(audit.calls.every(({ sessionId }) => sessionId === 's')).toBe(true);
    await agent.close();
  });

  it('of a sub-agent', async () => {
    const task = ['task', { prompt: 'below' }, 'task'] as const;
    const agent = await start(
      ({ prompt }) => {
        if (prompt.some(({ role }) => role === 'tool')) return 'Done.';
        return JSON.stringify(prompt.at(-1)).includes('below') ? CALLS : [task];
      },
      () => true,
    );
    await agent.loop.ask({ sessionId: 's', prompt: 'Go' });
    expect(events()).toEqual([...EVENTS, ['task', 'ok']].sort());
    await agent.close();
  });

  it('that somebody refused while the turn waited, with who did', async () => {
    const agent = await start([[['pay', { amount: 1 }, 'refused']], 'Done.']);
    await agent.loop.ask({ sessionId: 's', prompt: 'Go' });
    expect(audit.calls).toEqual([]);
    const [approval = expect.fail('nothing waits')] = await agent.loop.pending('s');
    await agent.loop.decide('s', approval, { approved: false, by: 'ann' });
    for await (const _ of agent.loop.resume({ sessionId: 's' }));
    expect(audit.calls).toMatchObject([
      {
        toolCallId: 'refused',
        outcome: 'not_available',
        cause: 'NOT_APPROVED',
        gate: 'answerByHost',
        approval: { approved: false, by: 'ann', reason: 'the tool always requires approval' },
      },
    ]);
    await agent.close();
  });

  it('that was given up', async () => {
    const agent = await start([[['pay', { amount: 1 }, 'left']], 'Done.']);
    await agent.loop.ask({ sessionId: 's', prompt: 'Go' });
    await agent.loop.abandon('s');
    expect(audit.calls).toMatchObject([{ toolCallId: 'left', cause: 'CALL_ABORTED' }]);
    await agent.close();
  });
});

import { join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { type ScriptedStep, scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createTestFolder, inCheck } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Agent } from './agent-api.js';
import { createAgent } from './create-agent.js';

// The user approved all calls of `pay` for the agent at the top. Which sub-agents may use that
// grant?

const INHERIT = 'safety:\n  approvals:\n    sub_agents: inherit\n';

let folder: ReturnType<typeof createTestFolder>;
let agent: Agent | undefined;
let paid: number[];
/** Called before a payment ends. */
let whilePaying: (amount: number) => Promise<void>;

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ amount: z.number() }),
  capabilities: {},
  requiresApproval: true,
  async execute({ amount }) {
    paid.push(amount);
    await whilePaying(amount);
    return ok(`paid ${amount}`);
  },
});

beforeEach(() => {
  folder = createTestFolder('inherited-grants');
  paid = [];
  whilePaying = async () => {};
});
afterEach(async () => {
  await agent?.close();
  agent = undefined;
  folder.remove();
});

function personality(id: string, more: string): void {
  folder.put(
    `../home/personalities/${id}/config.yaml`,
    `name: ${id}\ntoolset: [pay, task]\n${more}`,
    0o600,
  );
}

/** The calls of each agent, by the word in its prompt. */
type Script = Record<string, ScriptedStep[]>;

/** An agent whose user has approved all payments, and refuses everything that is asked later. */
async function begin(script: Script): Promise<{ agent: Agent; asked: unknown[] }> {
  const asked: unknown[] = [];
  let always = true;
  const began = await createAgent({
    home: join(folder.base, 'home'),
    cwd: folder.dir,
    personality: 'parent',
    tools: [pay, 'task'],
    model: scriptedModel(({ prompt }) => {
      const text = JSON.stringify(prompt.filter(({ role }) => role === 'user').at(-1));
      const word = Object.keys(script).find((each) => text.includes(each)) ?? '';
      const since = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user'));
      const done = since.filter(({ role }) => role === 'assistant').length;
      return script[word]?.[done] ?? 'Done.';
    }),
    approve: ({ toolName }) => {
      if (!always) asked.push(toolName);
      return always ? { approved: true, always: 'tool' } : false;
    },
  });
  agent = began;
  await began.loop.ask({ sessionId: 's', prompt: 'first' });
  always = false;
  return { agent: began, asked };
}

const FIRST: ScriptedStep[] = [[['pay', { amount: 1 }, 'first']]];
const paying = (amount: number): ScriptedStep => [['pay', { amount }, `pay-${amount}`]];
const delegating = (prompt: string, personalityId?: string): ScriptedStep => [
  ['task', { prompt, ...(personalityId !== undefined && { personality: personalityId }) }, prompt],
];

const second = 'second';
const go = (agent: Agent) => agent.loop.ask({ sessionId: 's', prompt: second });

describe('a grant of the agent at the top', () => {
  it.each(
    inCheck(
      [
        ['answers', 'its own personality, which says so', INHERIT, undefined, ''],
        ['does not answer', 'its own personality, which says nothing', '', undefined, ''],
        ['does not answer', 'another one, where both say so', INHERIT, 'child', INHERIT],
        ['does not answer', 'another one, where its own does not', INHERIT, 'child', ''],
        ['does not answer', 'another one, which alone says so', '', 'child', INHERIT],
      ],
      ([, under]) => under.startsWith('its own') || under.includes('both'),
    ),
  )('%s for a sub-agent under %s', async (what, _, parents, child, childs) => {
    personality('parent', parents);
    personality('child', childs);
    const { agent, asked } = await begin({
      first: FIRST,
      [second]: [delegating('below', child)],
      below: [paying(2)],
    });
    await go(agent);
    expect([paid, asked]).toEqual(what === 'answers' ? [[1, 2], []] : [[1], ['pay']]);
  });

  it.each(
    inCheck(
      [
        ['answers', INHERIT],
        ['does not answer', ''],
      ],
      ([what]) => what === 'answers',
    ),
  )('%s for a sub-agent of a sub-agent, where the personality says %j', async (what, says) => {
    personality('parent', says);
    const { agent, asked } = await begin({
      first: FIRST,
      [second]: [delegating('below')],
      below: [delegating('lowest')],
      lowest: [paying(3)],
    });
    await go(agent);
    expect([paid, asked]).toEqual(what === 'answers' ? [[1, 3], []] : [[1], ['pay']]);
  });

  it('does not answer for one of its own personality below one of another', async () => {
    personality('parent', INHERIT);
    personality('child', INHERIT);
    const { agent, asked } = await begin({
      first: FIRST,
      [second]: [delegating('below', 'child')],
      below: [delegating('lowest', 'parent')],
      lowest: [paying(3)],
    });
    await go(agent);
    expect([paid, asked]).toEqual([[1], ['pay']]);
  });

  it('ends for a sub-agent that runs, once it is revoked', async () => {
    personality('parent', INHERIT);
    const { agent, asked } = await begin({
      first: FIRST,
      [second]: [delegating('below')],
      below: [paying(2), paying(3)],
    });
    whilePaying = async () => {
      const session = agent.runtime.session('s');
      for (const { id } of await session.grants()) await session.revoke(id);
    };
    await go(agent);
    expect([paid, asked]).toEqual([[1, 2], ['pay']]);
  });

  it('ends for a sub-agent that runs, once the personality says so', async () => {
    personality('parent', INHERIT);
    const { agent, asked } = await begin({
      first: FIRST,
      [second]: [delegating('below')],
      below: [paying(2), paying(3)],
    });
    whilePaying = async () => personality('parent', '');
    await go(agent);
    expect([paid, asked]).toEqual([[1, 2], ['pay']]);
  });
});

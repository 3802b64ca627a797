import { DefaultToolRegistry } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentTools } from './api.js';
import type { LoggedCall } from './journal/session-log.js';
import { recordAnswers } from './record-answers.js';
import { registryTools } from './registry-tools.js';

const REFUSED = { ok: false, code: 'not_available', error: 'somebody said no' } as const;

/** Tools with a tool `pay`, and the amounts that it was called with. */
function payingTools(): { tools: AgentTools; paid: number[] } {
  const paid: number[] = [];
  const registry = new DefaultToolRegistry();
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ amount: z.number() }),
      capabilities: {},
      execute: async ({ amount }) => {
        paid.push(amount);
        return ok('paid');
      },
    }),
  );
  const personality = { id: 'p', name: 'P' };
  return { tools: registryTools(registry, personality, { workingDir: '/' }), paid };
}

const logged: LoggedCall = {
  call: { type: 'call', id: 'c', name: 'pay', input: { amount: 1 } },
  ordinal: 1,
  repeats: 1,
  started: false,
};
const where = { sessionId: 's', currentTurn: 1, messageCount: 1 };

it.each<[what: string, handsOn: (execute: AgentTools['execute']) => AgentTools['execute']]>([
  ['all', (execute) => execute],
  [
    'what they know',
    (execute) => (calls, options) => {
      const { answers: _, ...host } = options.host ?? {};
      return execute(calls, { ...options, host });
    },
  ],
])('a call that was refused does not run with tools that hand on %s', async (_, handsOn) => {
  const { tools, paid } = payingTools();
  const execute = handsOn((calls, options) => tools.execute(calls, options));
  const options = { tools: { ...tools, execute } };
  const [answer] = await recordAnswers([{ logged, result: REFUSED }], { options, ...where });
  expect(answer?.result).toEqual(REFUSED);
  expect(paid).toEqual([]);
});

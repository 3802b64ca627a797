import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { LoggedCall } from './journal/session-log.js';
import { mayRunAgain, runsUnder } from './run-again.js';

const tool = defineTool({
  name: 'settle',
  description: 'Settles.',
  input: z.object({}),
  capabilities: { calls: { tools: ['pay'] } },
  idempotent: true,
  execute: async () => ok('settled'),
});
const personality = { id: 'p', name: 'P' };
const under = runsUnder(tool, personality);
const logged = (more: Partial<LoggedCall>): LoggedCall =>
  ({ call: { id: 'c', name: 'settle', input: {} }, started: true, under, ...more }) as LoggedCall;

it('an interrupted call runs again only with its own arguments, and before it made calls', () => {
  expect(mayRunAgain(logged({}), tool, personality)).toBe(true);
  const inner = [{ id: 'i', name: 'pay', args: '{}', hasEnded: true }];
  for (const more of [{ inner }, { edited: {} }, { started: false }, { under: 'other' }]) {
    expect(mayRunAgain(logged(more), tool, personality)).toBe(false);
  }
});

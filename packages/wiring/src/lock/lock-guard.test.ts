import type { AnyTool } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { LockGuard } from './lock-guard.js';
import { takeLock } from './take-lock.js';

const places = { home: '/agent/.ethos', cwd: '/agent' };
const config = { id: 'p', name: 'P' };

const tool = (name: string): AnyTool => ({
  name,
  description: 'A tool.',
  schema: {},
  capabilities: {},
  execute: async () => ({ ok: true, value: '' }),
});
const given = (tools: readonly AnyTool[]) => tools.map((each) => ({ tool: each, grant: {} }));

function guardOf(tools: () => readonly AnyTool[]) {
  const environment: string[] = [];
  const lock = takeLock({
    ...{ places, environment, servers: [] },
    personalities: [{ config, tools: given(tools()) }],
  });
  const guard: LockGuard = new LockGuard({
    ...{ lock, file: 'reach.lock', places, environment, tools },
    servers: async () => [],
    given: (asked) => (guard.admits(asked) ? given(tools()) : []),
  });
  return guard;
}

it('admits a personality while its tools are within the lock, and no longer', async () => {
  let tools = [tool('a')];
  const guard = guardOf(() => tools);
  expect(guard.admits(config)).toBe(false);
  await guard.check([config]);
  expect(guard.admits(config)).toBe(true);
  const before = tools;
  tools = [...tools, tool('b')];
  expect(() => guard.checkNow([config])).toThrow(
    expect.objectContaining({ code: 'REACH_WIDENED', message: expect.stringContaining('p: b ') }),
  );
  expect(guard.admits(config)).toBe(false);
  tools = before;
  guard.checkNow([config]);
  expect(guard.admits(config)).toBe(true);
  tools = [{ ...tool('c'), description: 'Another one.' }];
  expect(() => guard.checkNow([config])).toThrow(/\n- p: c /);
  tools = [tool('a'), ...Array.from({ length: 25 }, (_, at) => tool(`t${at}`))];
  expect(() => guard.checkNow([config])).toThrow(/\n- and 5 more$/);
});

import { createInMemorySessionStore, DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { createDelegationTools } from './delegation-tools.js';
import { createAgents } from './fixtures/agents.js';
import { taskTool } from './task.js';

const refused: [name: string, args: unknown, says: RegExp][] = [
  ['task', {}, /^prompt: /],
  ['task', { prompt: '' }, /^prompt: is empty/],
  ['task', { prompt: ' \n' }, /^prompt: is empty/],
  ['task', { prompt: 1 }, /^prompt: expected string/],
  ['task', { prompt: 'x'.repeat(50_001) }, /^prompt: Too big/],
  ['task', { prompt: 'x', personality: 'a/b' }, /^personality: is not the name/],
  ['task', { prompt: 'x', personality: '' }, /^personality: is not the name/],
  ['task', { prompt: 'x', tools: 'echo' }, /^tools: expected array/],
  ['task', { prompt: 'x', tools: [''] }, /^tools\[0\]: Too small/],
  ['task', { prompt: 'x', max_steps: 0 }, /^max_steps: Too small/],
  ['task', { prompt: 'x', max_steps: 201 }, /^max_steps: Too big/],
  ['task', { prompt: 'x', max_steps: 1.5 }, /^max_steps: expected int/],
  ['task', { prompt: 'x', timeout: 1 }, /Unrecognized key: "timeout"/],
  ['task_start', {}, /^prompt: /],
  ['task_status', { id: '' }, /^id: Too small/],
  ['task_status', { id: 'x' }, /^DELEGATION_NOT_FOUND: .*task_status without an id/],
  ['task_result', {}, /^id: /],
  ['task_result', { id: 'x', wait_seconds: 301 }, /^wait_seconds: Too big/],
  ['task_result', { id: 'x', wait_seconds: -1 }, /^wait_seconds: Too small/],
  ['task_result', { id: 'x', wait_seconds: Number.POSITIVE_INFINITY }, /^wait_seconds: /],
  ['task_result', { id: '__proto__' }, /^DELEGATION_NOT_FOUND/],
  ['task_cancel', {}, /^id: /],
  ['task_cancel', { id: 'x'.repeat(101) }, /^id: Too big/],
  ['task_cancel', { id: 'tasks of s' }, /^DELEGATION_NOT_FOUND/],
  ['read_quarantined', {}, /^tool: /],
  ['read_quarantined', { tool: 'x', args: {}, question: ' ', schema: {} }, /^question: Too small/],
  ['read_quarantined', { tool: 'x', args: {}, question: 'x', schema: 'y' }, /^schema: /],
];

describe('what a task tool refuses', () => {
  it.each(refused.filter(([, args]) => JSON.stringify(args).length < 1_000))(
    '%s %j',
    async (name, args, says) => {
      const agents = createAgents({ sessions: createInMemorySessionStore() });
      expect(await agents.call(name, args)).toMatchObject({
        ok: false,
        ...(String(says).includes('NOT_FOUND')
          ? { code: 'execution_failed', cause: 'DELEGATION_NOT_FOUND' }
          : { code: 'input_invalid', cause: 'INPUT_INVALID' }),
        error: expect.stringMatching(says),
      });
      await agents.loop.close();
    },
  );

  it('half a surrogate pair, which an agent would have repaired', async () => {
    expect(await taskTool.input?.parse({ prompt: '\ud800' })).toMatchObject({
      ok: false,
      error: expect.stringContaining('holds half a surrogate pair'),
    });
  });

  it('a prompt that is too long', async () => {
    const agents = createAgents({ sessions: createInMemorySessionStore() });
    const result = await agents.call('task', { prompt: 'x'.repeat(50_001) });
    expect(result).toMatchObject({ code: 'input_invalid' });
  });
});

const read = { tool: 'x', args: {}, question: 'x', schema: { type: 'boolean' } };
const ARGS: Record<string, object> = {
  task: { prompt: 'x' },
  task_start: { prompt: 'x' },
  read_quarantined: read,
};

describe('not_available', () => {
  it.each(createDelegationTools().map(({ name }) => name))('%s without an agent', async (name) => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(createDelegationTools());
    const [answer] = await registry.executeParallel(
      [{ toolCallId: '1', name, args: ARGS[name] ?? { id: 'x' } }],
      {
        sessionId: 's',
        sessionKey: 's',
        platform: 'test',
        workingDir: '/',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit: () => {},
      },
    );
    expect(answer?.result).toMatchObject({ ok: false, code: 'not_available' });
  });

  it('a task too many, with the limit that it met', async () => {
    const agents = createAgents({
      sessions: createInMemorySessionStore(),
      loop: { delegation: { maxRunning: 0 } },
    });
    expect(await agents.call('task', { prompt: 'x' })).toMatchObject({
      ok: false,
      code: 'execution_failed',
      cause: 'DELEGATION_LIMIT',
      error: expect.stringMatching(/^DELEGATION_LIMIT: 0 sub-agents run/),
    });
  });
});

describe('a dry run', () => {
  const dry = async (name: string, args: unknown) => {
    const asked: string[] = [];
    const registry = new DefaultToolRegistry({});
    registry.registerAll(createDelegationTools());
    const info = {
      id: 'task-1',
      state: 'running' as const,
      prompt: 'x',
      startedAt: 1,
      steps: 0,
      calls: 0,
      costUsd: 0,
      untrusted: true,
    };
    const told = async (what: string) => {
      asked.push(what);
      return info;
    };
    const [answer] = await registry.executeParallel(
      [{ toolCallId: '1', name, args }],
      {
        sessionId: 's',
        sessionKey: 's',
        platform: 'test',
        workingDir: '/',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit: () => {},
        dryRun: true,
      },
      undefined,
      undefined,
      undefined,
      {
        delegation: {
          run: () => told('run'),
          start: () => told('start'),
          get: () => told('get'),
          cancel: () => told('cancel'),
          list: async () => [await told('list')],
        },
      },
    );
    return { result: answer?.result, asked };
  };

  it.each<[name: string, args: unknown, says: RegExp, asked: string[]]>([
    ['task', { prompt: 'x', max_steps: 3 }, /would be given a task .*at most 3 steps/, []],
    ['task_start', { prompt: 'x', personality: 'p', tools: [] }, /as p; with no tools/, []],
    ['task_status', {}, /task-1: running/, ['list']],
    ['task_result', { id: 'task-1', wait_seconds: 300 }, /still runs/, ['get']],
    ['task_cancel', { id: 'task-1' }, /task-1 would be cancelled/, ['get']],
    ['read_quarantined', read, /the result of x would be read for: x/, []],
  ])('of %s %j has no effect', async (name, args, says, asked) => {
    const run = await dry(name, args);
    expect(run.result).toMatchObject({ ok: true, value: expect.stringMatching(says) });
    expect(run.asked).toEqual(asked);
  });
});

import { createInMemorySessionStore } from '@ethosagent/core';
import type { ToolResult } from '@ethosagent/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAgents } from './fixtures/agents.js';

let agents: ReturnType<typeof createAgents>;
beforeEach(() => {
  agents = createAgents({
    sessions: createInMemorySessionStore(),
    talk: ({ task, step }) =>
      task.startsWith('stay') && step === 0
        ? { calls: [{ name: 'hold', args: {} }] }
        : { text: `answer of ${task}` },
  });
});

function idOf(result: ToolResult): string {
  const task = result.ok ? result.structured?.task : undefined;
  const { id } = Object(task);
  return typeof id === 'string' ? id : expect.fail(JSON.stringify(result));
}

describe('task_start, task_status, task_result and task_cancel', () => {
  it('start a task, wait for it and tell its answer', async () => {
    const id = idOf(await agents.call('task_start', { prompt: 'stay\na while' }));
    while (agents.held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await agents.call('task_result', { id })).toMatchObject({
      ok: true,
      value: `${id}: running (1 model call, 0 tool calls). It still runs.`,
    });
    expect(await agents.call('task_status')).toMatchObject({
      value: `${id}: running (1 model call, 0 tool calls) stay a while`,
    });
    agents.held[0]?.();
    expect(await agents.call('task_result', { id, wait_seconds: 60 })).toMatchObject({
      value: `${id}: done (2 model calls, 1 tool call)\n\nanswer of stay\na while`,
      structured: { task: { id, state: 'done' } },
    });
  });

  it('cancel a task', async () => {
    const id = idOf(await agents.call('task_start', { prompt: 'stay' }));
    expect(await agents.call('task_cancel', { id })).toMatchObject({
      ok: true,
      value: expect.stringMatching(/: cancelled \(/),
      structured: { task: { id, state: 'cancelled' } },
    });
    expect(await agents.call('task_result', { id })).toMatchObject({
      value: expect.stringMatching(/: cancelled .*it was cancelled\n\nThere is no answer\.$/s),
    });
    expect(await agents.call('task_cancel', { id })).toMatchObject({
      value: expect.stringMatching(/had ended already/),
    });
  });

  it('tell of no answer and no error in task_status, which is not marked', async () => {
    const id = idOf(await agents.call('task_start', { prompt: 'secret plan' }));
    await agents.call('task_result', { id, wait_seconds: 60 });
    const status = await agents.call('task_status', { id });
    expect(JSON.stringify(status)).not.toContain('answer of');
    expect(status).toMatchObject({ structured: { tasks: [{ id, state: 'done' }], left: 0 } });
  });

  it('are of the session alone', async () => {
    const id = idOf(await agents.call('task_start', { prompt: 'x' }));
    for (const name of ['task_status', 'task_result', 'task_cancel']) {
      expect(await agents.call(name, { id }, 'thief')).toMatchObject({
        ok: false,
        code: 'execution_failed',
        cause: 'DELEGATION_NOT_FOUND',
        error: expect.stringMatching(/^DELEGATION_NOT_FOUND/),
      });
    }
    expect(await agents.call('task_status', {}, 'thief')).toMatchObject({
      value: 'This session has started no tasks.',
    });
  });

  it('show the newest of many', async () => {
    agents = createAgents({
      sessions: createInMemorySessionStore(),
      loop: { delegation: { maxRunning: 60, maxTotal: 60 } },
    });
    const starts = Array.from({ length: 60 }, (_, at) => `!task_start {"prompt":"n${at}"}`);
    await agents.loop.ask({ sessionId: 's', prompt: starts.join('\n') });
    const status = await agents.call('task_status');
    const lines = status.ok ? status.value.split('\n') : [];
    expect(lines).toHaveLength(51);
    expect(lines[0]).toBe('10 older ones are not shown; ask for them by id.');
    expect(lines.at(-1)).toMatch(/ n59$/);
  });

  it('end with the session', async () => {
    const id = idOf(await agents.call('task_start', { prompt: 'stay' }));
    await agents.loop.endSession('s');
    expect(await agents.call('task_result', { id })).toMatchObject({
      value: expect.stringMatching(/: cancelled .*the session .* has ended/),
    });
  });
});

describe('a task that another process runs', () => {
  it('is not said to have ended, nor to be cancelled', async () => {
    const sessions = createInMemorySessionStore();
    const talk = ({ task, step }: { task: string; step: number }) =>
      task === 'stay' && step === 0
        ? { calls: [{ name: 'hold', args: {} }] }
        : { text: `answer of ${task}` };
    const first = createAgents({ sessions, talk });
    const second = createAgents({ sessions, talk });
    const id = idOf(await first.call('task_start', { prompt: 'stay' }));
    while (first.held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const name of ['task_status', 'task_result', 'task_cancel']) {
      const result = await second.call(name, { id });
      const text = result.ok ? result.value : result.error;
      expect(text).toMatch(/another process still runs it|still run by another process/);
      expect(text).not.toMatch(/ended already|: cancelled/);
    }
    first.held[0]?.();
    expect(await first.call('task_result', { id, wait_seconds: 60 })).toMatchObject({
      value: expect.stringMatching(/: done /),
    });
    expect(await second.call('task_result', { id })).toMatchObject({
      value: expect.stringMatching(/: done /),
    });
  });
});

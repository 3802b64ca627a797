import { createInMemorySessionStore, SessionLedgers } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { SessionStore } from '@ethosagent/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgents } from './fixtures/agents.js';

let noted: string[];
beforeEach(() => {
  noted = [];
});

const note = defineTool({
  name: 'note',
  description: 'Notes something down.',
  input: z.object({}),
  capabilities: {},
  async execute() {
    noted.push('noted');
    return ok('noted');
  },
});

function start() {
  const inner = createInMemorySessionStore();
  /** The sessions that would not take a record any more. */
  const refused: string[] = [];
  const store: SessionStore = {
    ...inner,
    append: async (session, messages, opts) => {
      try {
        return await inner.append(session, messages, opts);
      } catch (error) {
        refused.push(session.id);
        throw error;
      }
    },
  };
  const agents = createAgents({
    sessions: store,
    tools: [note],
    talk: ({ task, step }) => {
      if (task === 'file of Alice, deeper' && step === 0)
        return { calls: [{ name: 'task', args: { prompt: 'file of Alice' } }] };
      if (task !== 'wait, then note' || step > 1) return { text: 'Alice is well' };
      return { calls: [{ name: step === 0 ? 'hold' : 'note', args: {} }] };
    },
  });
  return { ...agents, refused, store, sessions: SessionLedgers.of(store).sessions() };
}

const ids = async (store: { list(): Promise<{ id: string }[]> }) =>
  (await store.list()).map(({ id }) => id);

describe('a session that is deleted', () => {
  it('goes with the sessions of its sub-agents, on all levels', async () => {
    const { call, sessions, store } = start();
    await call('task', { prompt: 'file of Alice, deeper' });
    await call('task', { prompt: 'file of Bob' }, 'other');
    const before = await ids(store);
    expect(before.filter((id) => id.startsWith('task-'))).toHaveLength(3);
    expect(await sessions.delete('s')).toBe(true);
    const left = await ids(store);
    expect(left.filter((id) => id.startsWith('task-'))).toHaveLength(1);
    expect(left.some((id) => /(^| )s$/.test(id))).toBe(false);
    expect(await sessions.delete('other')).toBe(true);
    expect(await ids(store)).toEqual([]);
  });

  it('stops a background task before its next call, which leaves nothing behind', async () => {
    const { call, held, loop, refused, sessions, store } = start();
    await call('task_start', { prompt: 'wait, then note' });
    await expect.poll(() => held.length).toBe(1);
    await sessions.delete('s');
    expect(await ids(store)).toEqual([]);
    const listed = await call('task_status');
    expect(listed).toMatchObject({ ok: true, value: expect.not.stringContaining('wait, then') });
    for (const release of held) release();
    await expect.poll(() => refused).toEqual([expect.stringMatching(/^task-/)]);
    await loop.close();
    expect(noted).toEqual([]);
    expect((await ids(store)).filter(isOfTasks)).toEqual([]);
  });
});

const isOfTasks = (id: string) => id.startsWith('task');

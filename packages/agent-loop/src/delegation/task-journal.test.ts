import { fuzz } from '@ethosagent/conformance/fuzz';
import { createInMemorySessionStore } from '@ethosagent/core';
import type { DelegationInfo } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INTERRUPTED, TaskJournal } from './task-journal.js';

const parent = { id: 's', scopeId: 'personality:boss' };
const info = (id: string, more: Partial<DelegationInfo> = {}): DelegationInfo => ({
  id,
  state: 'running',
  prompt: 'look',
  startedAt: 1,
  steps: 0,
  calls: 0,
  costUsd: 0,
  untrusted: true,
  ...more,
});

describe('TaskJournal', () => {
  it('tells a task without an end as interrupted, and others as they ended', async () => {
    const store = createInMemorySessionStore();
    const journal = new TaskJournal(store, parent);
    await journal.started(info('a', { personalityId: 'boss/clerk' }));
    await journal.started(info('b'));
    const end = {
      state: 'failed',
      endedAt: 2,
      steps: 1,
      calls: 2,
      costUsd: 0.5,
      error: 'no',
      untrusted: false,
    } as const;
    await journal.ended(info('b', end));
    await journal.ended(info('never begun', end));
    expect(await new TaskJournal(store, parent).list()).toEqual([
      info('a', { state: 'interrupted', personalityId: 'boss/clerk', error: INTERRUPTED }),
      info('b', end),
    ]);
    expect(await new TaskJournal(store, { ...parent, id: 't' }).list()).toEqual([]);
  });

  it('begins no new list once its session was deleted', async () => {
    const store = createInMemorySessionStore();
    await new TaskJournal(store, parent).ended(info('a', { state: 'done' }));
    expect(await store.list()).toEqual([]);
  });

  it('keeps the beginning of a long prompt', async () => {
    const journal = new TaskJournal(createInMemorySessionStore(), parent);
    await journal.started(info('a', { prompt: '\u{1f600}'.repeat(100_000) }));
    const [task] = await journal.list();
    expect(task?.prompt.length).toBeLessThanOrEqual(4_000);
    expect(task?.prompt.isWellFormed()).toBe(true);
  });

  const wild = fc.oneof(
    fc.jsonValue(),
    fc.record({ v: fc.constantFrom(1, 2), task: fc.jsonValue() }),
    fc.record({
      v: fc.constant(1),
      task: fc.record({
        kind: fc.constantFrom('task_started', 'task_ended', 'x'),
        id: fc.constantFrom('a', '__proto__', ''),
        prompt: fc.oneof(fc.string(), fc.integer()),
        state: fc.constantFrom('done', 'running', 'x'),
        startedAt: fc.oneof(fc.integer(), fc.constant('1')),
      }),
    }),
  );
  fuzz(
    'reads whatever is stored, and takes nothing else for a task',
    fc.array(wild),
    async (all) => {
      const store = createInMemorySessionStore();
      const messages = all.map((data) => ({ role: 'system' as const, text: '', data }));
      await store.append({ ...parent, id: 'tasks of s' }, messages);
      for (const task of await new TaskJournal(store, parent).list()) {
        expect(task).toMatchObject({ id: expect.any(String), prompt: expect.any(String) });
        expect(['interrupted', 'done', 'failed', 'cancelled']).toContain(task.state);
      }
    },
  );
});

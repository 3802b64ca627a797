import { describe, expect, it } from 'vitest';
import type { AgentEvent } from './api.js';
import { EventQueue } from './event-queue.js';

const text = (at: number): AgentEvent => ({ type: 'text', text: `${at}` });
const progress = (at: number): AgentEvent => ({
  type: 'tool_progress',
  toolCallId: 'c',
  toolName: 't',
  message: `${at}`,
  audience: 'user',
});

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const pending = Symbol('pending');
  return (
    (await Promise.race([
      promise,
      new Promise((resolve) => setImmediate(() => resolve(pending))),
    ])) !== pending
  );
}

describe('EventQueue', () => {
  it('gives events in order, and waits for them', async () => {
    const queue = new EventQueue();
    const first = queue.next();
    void queue.push(text(1));
    void queue.push(text(2));
    expect(await first).toEqual(text(1));
    expect(await queue.next()).toEqual(text(2));
    queue.end();
    expect(await queue.next()).toBeUndefined();
  });

  it('holds up whoever writes faster than is read', async () => {
    const queue = new EventQueue();
    const writes = Array.from({ length: 100 }, (_, at) => queue.push(text(at)));
    expect(await isSettled(writes[0] ?? Promise.reject())).toBe(true);
    const last = writes.at(-1) ?? Promise.reject();
    expect(await isSettled(last)).toBe(false);
    for (let at = 0; at < 60; at++) expect(await queue.next()).toEqual(text(at));
    expect(await isSettled(last)).toBe(true);
  });

  it('drops the oldest of much progress, and nothing else', async () => {
    const queue = new EventQueue();
    void queue.push(text(1));
    for (let at = 0; at < 10_000; at++) void queue.push(progress(at));
    void queue.push(text(2));
    const events: AgentEvent[] = [];
    for (let at = 0; at < 66; at++) events.push((await queue.next()) ?? text(-1));
    expect(events[0]).toEqual(text(1));
    expect(events[1]).toEqual(progress(10_000 - 64));
    expect(events.at(-2)).toEqual(progress(9_999));
    expect(events.at(-1)).toEqual(text(2));
  });

  it('lets go of all who wait when it ends', async () => {
    const queue = new EventQueue();
    const writes = Array.from({ length: 100 }, (_, at) => queue.push(text(at)));
    queue.end();
    await Promise.all(writes);
    await queue.push(text(1));
    expect(await queue.next()).toBeUndefined();
  });
});

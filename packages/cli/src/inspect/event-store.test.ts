import type { LoggedEvent } from '@ethosagent/audit';
import { describe, expect, it } from 'vitest';
import { EventStore } from './event-store.js';
import { callEvents } from './fixtures/inspected-home.js';
import type { EventQuery } from './inspect-api.js';

/** A reader that returns these events, and later those that are added. */
function readerOf(events: LoggedEvent[]) {
  return {
    async *read() {
      for (const event of events.splice(0)) yield event;
    },
  };
}
const logged = (events: ReturnType<typeof callEvents>): LoggedEvent[] =>
  events.map((event, index) => ({ log: '/home/audit/audit.jsonl', seq: index + 1, event }));

const open = async (calls: number, max?: number) => {
  const events = logged(callEvents(calls));
  const store = new EventStore(readerOf(events), max);
  await store.refresh();
  return { store, events };
};

describe('EventStore', () => {
  it.each<[EventQuery, number]>([
    [{}, 60],
    [{ kind: 'call' }, 30],
    [{ kind: 'access', decision: 'denied' }, 3],
    [{ tool: 'search' }, 20],
    [{ session: 'session-3' }, 8],
    [{ session: 'session' }, 0],
    [{ call: 'call-7' }, 2],
    [{ host: 'API.example.com' }, 10],
    [{ host: 'example.com' }, 0],
    [{ text: 'NOTES denied' }, 2],
    [{ text: 'audit.jsonl' }, 60],
    [{ text: 'nothing of this' }, 0],
  ])('finds for %j %d events', async (query, total) => {
    const { store } = await open(30);
    const page = store.search(query);
    expect([page.total, page.events.length]).toEqual([total, total]);
  });

  it('keeps pages where they are while others come', async () => {
    const { store, events } = await open(10);
    const first = store.search({ limit: 5 });
    expect(first.events.map(({ id }) => id)).toEqual([20, 19, 18, 17, 16]);
    events.push(...logged(callEvents(3)));
    expect((await store.refresh()).length).toBe(6);
    const next = store.search({ upTo: first.upTo, offset: 5, limit: 5 });
    expect([next.total, ...next.events.map(({ id }) => id)]).toEqual([20, 15, 14, 13, 12, 11]);
    expect(store.search({}).total).toBe(26);
  });

  it('lets the oldest go, and says so', async () => {
    const { store, events } = await open(100, 50);
    expect(store.size).toEqual({ held: 50, older: 150 });
    events.push(...logged(callEvents(1)));
    await store.refresh();
    expect([store.size, store.newest]).toEqual([{ held: 50, older: 152 }, 202]);
    expect(store.search({}).events.at(-1)?.id).toBe(153);
  });

  it('reads once for all who ask at once', async () => {
    const { store, events } = await open(1);
    events.push(...logged(callEvents(2)));
    const [one, two] = await Promise.all([store.refresh(), store.refresh()]);
    expect([one.length, two]).toEqual([4, one]);
  });
});

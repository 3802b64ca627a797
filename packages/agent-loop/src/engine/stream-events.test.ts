import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { createLocalFleet, type LocalFleet } from './fixtures/local-fleet.js';

let place: LocalFleet | undefined;
let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await place?.close();
});

interface Sent {
  id: number;
  event: string;
  data: { turnId: string; event: { type: string; text?: string } };
}

/** Reads events until one of a certain type has arrived, and then closes the connection. */
async function readUntil(url: string, type: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const sent: Sent[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field('data');
      if (data === undefined) continue;
      sent.push({ id: Number(field('id')), event: field('event') ?? '', data: JSON.parse(data) });
      if (sent.at(-1)?.event === type) return sent;
    }
  }
  throw new Error(`the stream ended before ${type}`);
}

it('Fleet.stream sends the events of a session, and goes on where a browser was', async () => {
  place = createLocalFleet((prompt) => ({ text: `did ${prompt}\n\nid: 7` }));
  const { fleet, startWorker, reaches } = place;
  server = createServer((request, response) => void fleet.stream('s', request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}/?after=nonsense`;

  // The reader connects before there are any events.
  const first = readUntil(url, 'done');
  await startWorker();
  const one = await fleet.enqueue({ sessionId: 's', prompt: 'one' });
  const sent = await first;
  expect(sent.map(({ event }) => event)).toEqual(expect.arrayContaining(['start', 'text', 'done']));
  expect(sent.every(({ data }) => data.turnId === one)).toBe(true);
  // A text of the model can't add lines to the stream.
  expect(sent.find(({ event }) => event === 'text')?.data.event.text).toBe('did one\n\nid: 7');
  const positions = sent.map(({ id }) => id);
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));

  const two = await fleet.enqueue({ sessionId: 's', prompt: 'two' });
  await fleet.enqueue({ sessionId: 'other', prompt: 'not for him' });
  await reaches(two, 'done');
  const last = `${positions.at(-1)}`;
  const rest = await readUntil(url, 'done', { 'last-event-id': last });
  expect(rest.every(({ data }) => data.turnId === two)).toBe(true);
  const all = await readUntil(url, 'done');
  expect(all.map(({ id }) => id)).toEqual(positions);
});

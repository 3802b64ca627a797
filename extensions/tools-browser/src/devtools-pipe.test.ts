import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DevtoolsPipe } from './devtools-pipe.js';

function createPipe(maxMessageChars = 1_000) {
  const sent: string[] = [];
  const got: object[] = [];
  let oversize = 0;
  const connection = {
    write: async (data: string | Uint8Array) => {
      sent.push(String(data));
    },
    end: () => {},
  };
  const pipe = new DevtoolsPipe(connection, {
    maxMessageChars,
    onOversize: () => {
      oversize += 1;
    },
  });
  pipe.onmessage = (message) => got.push(message);
  return { pipe, sent, got, oversize: () => oversize };
}

describe('DevtoolsPipe', () => {
  const messages = fc.array(fc.record({ id: fc.nat(), method: fc.string() }), { maxLength: 8 });
  fuzz(
    'gives every message once, however the text is cut',
    fc.tuple(messages, fc.array(fc.nat(40))),
    async ([list, cuts]) => {
      const { pipe, got } = createPipe(100_000);
      let text = list.map((message) => `${JSON.stringify(message)}\0`).join('');
      for (const cut of cuts) {
        await pipe.receive(text.slice(0, cut));
        text = text.slice(cut);
      }
      await pipe.receive(text);
      expect(got).toEqual(list);
    },
  );

  it('hands each message on in a task of its own, in order', async () => {
    const { pipe } = createPipe();
    const log: string[] = [];
    pipe.onmessage = (message) => {
      const { method } = Object(message);
      log.push(method);
      // The library continues a few promises after an answer.
      Promise.resolve()
        .then(() => {})
        .then(() => log.push(`after ${method}`));
    };
    await pipe.receive('{"method":"a"}\0{"method":"b"}\0{"method":"c"}\0');
    expect(log).toEqual(['a', 'after a', 'b', 'after b', 'c', 'after c']);
  });

  it('answers with an error when an answer is too large, and leaves out such an event', async () => {
    const { pipe, got, oversize } = createPipe();
    pipe.send({ id: 7, method: 'a', sessionId: 's' });
    const large = 'x'.repeat(400);
    await pipe.receive('{"id":7,"result":"');
    for (let part = 0; part < 10; part += 1) await pipe.receive(large);
    await pipe.receive(
      `"}\0{"method":"m","params":"${large}${large}${large}"}\0{"method":"next"}\0`,
    );
    expect(got).toEqual([
      { id: 7, sessionId: 's', error: expect.objectContaining({ code: -32_000 }) },
      { method: 'next' },
    ]);
    expect(oversize()).toBe(2);
  });

  it('keeps none of gigabytes', async () => {
    const { pipe, oversize } = createPipe(1_000_000);
    const chunk = 'y'.repeat(65_536);
    const before = process.memoryUsage().rss;
    for (let chars = 0; chars < 2_000_000_000; chars += chunk.length) await pipe.receive(chunk);
    await pipe.receive('\0');
    expect(oversize()).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  fuzz('takes any text', fc.string({ maxLength: 3_000 }), async (text) => {
    const { pipe, got } = createPipe();
    await pipe.receive(`${text}\0{"id":1}\0`);
    expect(got.at(-1)).toEqual({ id: 1 });
  });
});

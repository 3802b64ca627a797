import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { readMethods } from './client.js';
import { MAX_UNASKED_CHARS } from './limits.js';
import { RedactedTransport } from './redacted-transport.js';

const LONG = 'x'.repeat(MAX_UNASKED_CHARS);

/** A transport over a server that the test plays. */
async function open(redact?: (text: string) => string) {
  const sent: JSONRPCMessage[] = [];
  const inner: Transport = {
    start: async () => {},
    send: async (message) => void sent.push(message),
    close: async () => {},
  };
  const read: JSONRPCMessage[] = [];
  let charged = 0;
  let redacted = 0;
  const transport = new RedactedTransport(inner, {
    redact: (text) => {
      redacted += text.length;
      return redact?.(text) ?? text;
    },
    reads: readMethods({
      onSampling: undefined,
      onElicitation: () => new Promise(() => {}),
      onLog: () => {},
    }),
    unasked: {
      take: (chars) => {
        charged += chars;
        return 0;
      },
    },
  });
  transport.onmessage = (message) => read.push(message);
  await transport.start();
  return {
    transport,
    sent,
    read,
    work: () => ({ charged, redacted }),
    say: (message: object) => inner.onmessage?.(Object({ jsonrpc: '2.0', ...message })),
  };
}

describe('RedactedTransport', () => {
  it('redacts what somebody reads: short messages that are handled, and answers however long', async () => {
    const { transport, say, read, work } = await open((text) => text.replaceAll('key', '***'));
    say({ method: 'notifications/message', params: { level: 'info', data: 'a key' } });
    say({ id: 's', method: 'elicitation/create', params: { message: 'your key?' } });
    const { charged } = work();
    expect(charged).toBeGreaterThan(0);
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    say({ id: 1, result: { text: `${LONG} key` } });
    expect(read).toMatchObject([
      { params: { data: 'a ***' } },
      { params: { message: 'your ***?' } },
      { result: { text: `${LONG} ***` } },
    ]);
    expect(work().charged).toBe(charged);
  });

  it.each([
    ['notification that nobody handles', { method: 'notifications/x', params: { a: LONG } }],
    ['progress too long', { method: 'notifications/progress', params: { message: LONG } }],
    ['answer that nobody asked for', { id: 7, result: { a: LONG } }],
    ['error that nobody asked for', { id: 7, error: { code: 1, message: LONG } }],
    ['request with a long id', { id: LONG, method: 'x' }],
  ])('drops each %s, and charges for it', async (_name, message) => {
    const { say, read, sent, work } = await open();
    for (let time = 0; time < 100; time++) say(message);
    expect([read, sent]).toEqual([[], []]);
    expect(work()).toMatchObject({ redacted: 0 });
    expect(work().charged).toBeGreaterThan((100 * MAX_UNASKED_CHARS) / 20);
  });

  it('takes one answer to a request, and none to a request that was withdrawn', async () => {
    const { transport, say, read } = await open();
    for (const id of [1, 2]) await transport.send({ jsonrpc: '2.0', id, method: 'ping' });
    const params = { requestId: 2 };
    await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    for (const id of [1, 1, 2]) say({ id, result: {} });
    expect(read).toHaveLength(1);
  });

  it('refuses requests that nobody handles, or that are too long, without reading them', async () => {
    const { say, read, sent, work } = await open();
    say({ id: 'a', method: 'sampling/createMessage', params: { messages: LONG } });
    say({ id: 'b', method: 'elicitation/create', params: { message: LONG } });
    expect(sent).toMatchObject([
      { id: 'a', error: { code: -32601 } },
      { id: 'b', error: { code: -32600 } },
    ]);
    expect(read).toEqual([]);
    expect(work().redacted).toBe(0);
  });

  it('passes on that there was a log entry, and not one that is too long', async () => {
    const { say, read } = await open();
    say({ method: 'notifications/message', params: { level: 'info', data: LONG } });
    expect(read).toEqual([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } },
    ]);
  });
});

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { errorCodeOf } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNetworkGuard, type NetworkGuard } from './network-guard.js';
import { type LoopbackServer, rejection, startServer } from './testing/loopback.js';

let server: LoopbackServer;
let guard: NetworkGuard;
let answer: (response: ServerResponse) => unknown;
beforeAll(async () => {
  server = await startServer((_, response) => void answer(response));
  guard = createNetworkGuard({ allowedHosts: ['127.0.0.1'] });
  // The first request loads undici, which may take longer than the deadlines below.
  answer = (response) => response.end();
  await (await get({})).text();
});
afterAll(async () => {
  await guard.close();
  await server.close();
});

const EVENTS = { 'content-type': 'text/event-stream' };

function get(options: { idleTimeoutMs?: number; timeoutMs?: number; maxBodyBytes?: number }) {
  return guard.fetch(`http://127.0.0.1:${server.port}/`, {}, options);
}

async function trickle(response: ServerResponse, parts: number, pauseMs: number): Promise<void> {
  for (let part = 0; part < parts && !response.destroyed; part += 1) {
    response.write('x'.repeat(100));
    await sleep(pauseMs);
  }
  response.end();
}

describe('NetworkGuard.fetch with idleTimeoutMs', () => {
  it.each([
    ['as it is', {}],
    ['of events', EVENTS],
    ['with a length', { 'content-length': '2600' }],
  ])('lets a body %s take longer than its deadline while bytes come', async (_name, headers) => {
    answer = (response) => trickle(response.writeHead(200, headers), 26, 50);
    const response = await get({ timeoutMs: 1000, idleTimeoutMs: 1000 });
    expect(await response.text()).toHaveLength(2600);
  });

  it('has no more than the deadline without it', async () => {
    answer = (response) => trickle(response.writeHead(200), 26, 50);
    const response = await get({ timeoutMs: 500 });
    expect(errorCodeOf(await rejection(response.text()))).toBe('NETWORK_TIMEOUT');
  });

  it.each([
    ['plain', (response: ServerResponse) => response.writeHead(200).write('x')],
    ['of events', (response: ServerResponse) => response.writeHead(200, EVENTS).write('x')],
    ['without a byte', (response: ServerResponse) => response.writeHead(200).flushHeaders()],
    [
      'compressed',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('x').subarray(0, 9)),
    ],
  ])('ends a body that falls silent: %s', async (_name, begin) => {
    answer = begin;
    const response = await get({ idleTimeoutMs: 100 });
    const error = await rejection(response.text());
    expect(errorCodeOf(error)).toBe('NETWORK_TIMEOUT');
  });

  it('holds the headers to the deadline', async () => {
    answer = () => {};
    const error = await rejection(get({ timeoutMs: 100, idleTimeoutMs: 60_000 }));
    expect(errorCodeOf(error)).toBe('NETWORK_TIMEOUT');
  });

  it('leaves a body alone that has come', async () => {
    answer = (response) => response.end('fine');
    const response = await get({ idleTimeoutMs: 50 });
    await sleep(120);
    expect(await response.text()).toBe('fine');
  });

  it('leaves a large body alone that has come, and is read later', async () => {
    answer = (response) => response.end('x'.repeat(200_000));
    const response = await get({ idleTimeoutMs: 50 });
    await sleep(150);
    expect(await response.text()).toHaveLength(200_000);
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['an event stream', EVENTS, undefined],
    [
      'an event stream with a charset',
      { 'content-type': 'TEXT/event-stream; charset=x' },
      undefined,
    ],
    ['a compressed one', { ...EVENTS, 'content-encoding': 'gzip' }, undefined],
    ['anything else', { 'content-type': 'text/event-streamer' }, 'BODY_TOO_LARGE'],
    ['what has no type', {}, 'BODY_TOO_LARGE'],
    ['a list of types', { 'content-type': 'text/html, text/event-stream' }, 'BODY_TOO_LARGE'],
  ])('for %s the cap is lifted or holds', async (_name, headers, code) => {
    const body = Buffer.alloc(200_000, 'x');
    const isGzip = headers['content-encoding'] === 'gzip';
    answer = (response) => response.writeHead(200, headers).end(isGzip ? gzipSync(body) : body);
    const read = async () => (await get({ idleTimeoutMs: 5_000, maxBodyBytes: 1000 })).text();
    if (code === undefined) expect(await read()).toHaveLength(200_000);
    else expect(errorCodeOf(await rejection(read()))).toBe(code);
  });

  it('the cap holds for events without it', async () => {
    answer = (response) => response.writeHead(200, EVENTS).end(Buffer.alloc(200_000));
    const read = async () => (await get({ maxBodyBytes: 1000 })).text();
    expect(errorCodeOf(await rejection(read()))).toBe('BODY_TOO_LARGE');
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Handover } from './handover.js';
import { type LoopbackServer, rejection, startServer, until } from './testing/loopback.js';

const text = 'hello '.repeat(1_000);

let agent: Agent;
let server: LoopbackServer;
/** The answer that the server has begun. */
let begun: ServerResponse | undefined;

beforeEach(async () => {
  agent = new Agent({ connections: 1 });
  server = await startServer((request, response) => {
    begun = response;
    response.setHeader('content-encoding', 'gzip');
    if (request.url === '/part') response.write(gzipSync(text).subarray(0, 20));
    else response.end(gzipSync(text));
  });
});
afterEach(async () => {
  await agent.destroy();
  await server.close();
});

/** A response that has begun. */
interface Begun {
  handover: Handover;
  /** Resolves when the connection has failed. */
  failed: Promise<void>;
}

function begin(path: string, method: 'GET' | 'HEAD' = 'GET'): Promise<Begun> {
  let onFailed = () => {};
  const failed = new Promise<void>((resolve) => {
    onFailed = resolve;
  });
  return new Promise((resolve) => {
    let handover: Handover | undefined;
    agent.dispatch(
      { origin: server.origin, path, method },
      {
        onRequestStart() {},
        onResponseStart(controller, status, headers, statusText = '') {
          const rawHeaders = controller.rawHeaders as Buffer[];
          const head = {
            status,
            statusText,
            rawHeaders,
            headers: headers as Record<string, string>,
          };
          handover = new Handover(controller, head);
          resolve({ handover, failed });
        },
        onResponseData(_, chunk) {
          handover?.data(chunk);
        },
        onResponseEnd() {
          handover?.end();
        },
        onResponseError(_, error) {
          handover?.fail(error);
          onFailed();
        },
      },
    );
  });
}

function finish({ handover }: Begun, method = 'GET'): Promise<Response> {
  const init: RequestInit = { method };
  return fetch(server.origin, Object.assign({ dispatcher: handover }, init));
}

describe('a response that is handed over to fetch', () => {
  it('waits until fetch asks, and is decoded', async () => {
    const response = await begin('/');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    const finished = await finish(response);
    expect(finished.headers.get('content-encoding')).toBe('gzip');
    expect(await finished.text()).toBe(text);
  });

  it('leaves the connection to the next request', async () => {
    expect(await (await finish(await begin('/'))).text()).toBe(text);
    expect(await (await finish(await begin('/'))).text()).toBe(text);
    expect(server.connections).toBe(1);
  });

  it('is over without a body, after which the connection closes', async () => {
    expect((await finish(await begin('/', 'HEAD'), 'HEAD')).body).toBe(null);
    await until(() => server.open === 0);
  });

  it('fails if the connection failed before fetch asked', async () => {
    const response = await begin('/part');
    await agent.destroy();
    await response.failed;
    expect(await rejection(finish(response))).toBeInstanceOf(TypeError);
  });

  it('fails if the connection fails within the body', async () => {
    const response = await begin('/part');
    const finished = await finish(response);
    const read = rejection(finished.text());
    begun?.destroy();
    expect(await read).toBeInstanceOf(Error);
  });

  it('ends its connection when the body is cancelled', async () => {
    const finished = await finish(await begin('/part'));
    const closed = begun && once(begun, 'close');
    await finished.body?.cancel();
    await closed;
    await until(() => server.open === 0);
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { ContainedWorld, ContainmentOptions } from './options.js';
import type { Answer, Received } from './world-server.js';

const FLOOD_STEP_BYTES = 1024 * 1024;
const FLOOD_STEPS = 700;

/** What the author says, or a short text. */
export function honestAnswer(answer: ContainmentOptions['answer'], world: ContainedWorld): Answer {
  return async (received, response) => {
    if (answer === undefined) {
      response.end(`An ordinary answer. Its token is ${world.token}.\n`);
      return;
    }
    const { method, url, headers, body } = received;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(url, { method, headers, ...(hasBody && { body }) });
    const given = await answer(request, world);
    const {
      status,
      headers: own,
      body: content,
    } = typeof given === 'string' ? new Response(given) : given;
    response.writeHead(status, Object.fromEntries(own));
    if (content !== null) for await (const chunk of content) response.write(chunk);
    response.end();
  };
}

/** Redirects everything to `location`, and before that, `hops` times, within the host. */
export function redirectTo(status: number, location: string, hops = 0): Answer {
  return ({ url }, response) => {
    const hop = Number(/\/contained-hop-(\d+)/.exec(url)?.[1] ?? 0);
    const next = hop < hops ? `/contained-hop-${hop + 1}` : location;
    // A header holds bytes; some locations are none.
    response.writeHead(status, { location: Buffer.from(next).toString('latin1') });
    response.end('moved');
  };
}

/** Takes the request and says nothing. */
export const silent: Answer = () => {};

/** Says that there is more to come, and is silent. */
export const headersOnly: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000000' });
  response.flushHeaders();
};

/** A byte now and then. */
export const trickle: Answer = (_, response) => {
  const timer = setInterval(() => response.write('.'), 20);
  response.on('close', () => clearInterval(timer));
};

/** A body that goes on for longer than anyone may read. */
export const endless: Answer = (_, response) =>
  flood(response, Buffer.alloc(FLOOD_STEP_BYTES, 'flood '));

/** Little on the wire, much of it when it is unpacked. */
export const gzipBomb: Answer = (_, response) => {
  response.setHeader('content-encoding', 'gzip');
  return flood(response, gzipSync(Buffer.alloc(FLOOD_STEP_BYTES)));
};

/** Sends back all that it got, as it is and encoded. */
export function echo(status: number, encode: (text: string) => string): Answer {
  return (request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ echo: encode(textOf(request)) }));
  };
}

/** All that a request said. */
export function textOf({ method, url, headers, body }: Received): string {
  return `${method} ${url}\n${JSON.stringify(headers)}\n${body.toString('utf8')}`;
}

// Ends, so that a tool which reads it all is found out before the machine is out of memory.
async function flood(response: ServerResponse, chunk: Buffer): Promise<void> {
  const closed = once(response, 'close').catch(() => {});
  for (let step = 0; step < FLOOD_STEPS && !response.destroyed; step += 1) {
    if (!response.write(chunk)) {
      await Promise.race([once(response, 'drain').catch(() => {}), closed]);
    }
    // The one who reads is in this process too.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { ContainedWorld, ContainmentOptions } from './options.js';
import type { Answer, Received } from './world-server.js';

const FLOOD_STEP_BYTES = 1024 * 1024;
const FLOOD_STEPS = 700;

/** Gives the answer of the author's options, or a short text. */
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

/** Redirects everything to `location`, after `hops` redirects within the host. */
export function redirectTo(status: number, location: string, hops = 0): Answer {
  return ({ url }, response) => {
    const hop = Number(/\/contained-hop-(\d+)/.exec(url)?.[1] ?? 0);
    const next = hop < hops ? `/contained-hop-${hop + 1}` : location;
    // A header contains bytes, and some locations have other characters.
    response.writeHead(status, { location: Buffer.from(next).toString('latin1') });
    response.end('moved');
  };
}

/** Accepts the request and never answers. */
export const silent: Answer = () => {};

/** Sends headers that announce a body, and no body. */
export const headersOnly: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000000' });
  response.flushHeaders();
};

/** Sends a byte from time to time. */
export const trickle: Answer = (_, response) => {
  const timer = setInterval(() => response.write('.'), 20);
  response.on('close', () => clearInterval(timer));
};

/** Sends a body that is too long for any reader. */
export const endless: Answer = (_, response) =>
  flood(response, Buffer.alloc(FLOOD_STEP_BYTES, 'flood '));

/** Sends few bytes that unpack to very many. */
export const gzipBomb: Answer = (_, response) => {
  response.setHeader('content-encoding', 'gzip');
  return flood(response, gzipSync(Buffer.alloc(FLOOD_STEP_BYTES)));
};

/** Sends everything back that it received, unchanged and encoded. */
export function echo(status: number, encode: (text: string) => string): Answer {
  return (request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ echo: encode(textOf(request)) }));
  };
}

/** Returns the whole request as a text. */
export function textOf({ method, url, headers, body }: Received): string {
  return `${method} ${url}\n${JSON.stringify(headers)}\n${body.toString('utf8')}`;
}

// Ends at some point, so that a tool that reads everything is found before memory runs out.
async function flood(response: ServerResponse, chunk: Buffer): Promise<void> {
  const closed = once(response, 'close').catch(() => {});
  for (let step = 0; step < FLOOD_STEPS && !response.destroyed; step += 1) {
    if (!response.write(chunk)) {
      await Promise.race([once(response, 'drain').catch(() => {}), closed]);
    }
    // The reader runs in this process too.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

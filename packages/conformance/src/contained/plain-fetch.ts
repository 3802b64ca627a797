import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Sends a request on a connection of its own, which ends with the request. If `signal` fires, it
 * ends at once, even while it is being opened. The global `fetch` does not do this. Follows no
 * redirects.
 */
export async function plainFetch(request: Request, signal: AbortSignal): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer());
  const outgoing = httpRequest(request.url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    agent: false,
    signal,
  });
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [incoming]: IncomingMessage[] = await once(outgoing, 'response');
  if (incoming === undefined) throw new TypeError('there was no response');
  const status = incoming.statusCode ?? 500;
  const hasBody = !WITHOUT_BODY.has(status) && request.method !== 'HEAD';
  if (!hasBody) incoming.resume();
  return new Response(hasBody ? decoded(incoming) : null, { status, headers: headersOf(incoming) });
}

function decoded(incoming: IncomingMessage): AsyncIterable<Uint8Array> {
  if (incoming.headers['content-encoding'] !== 'gzip') return incoming;
  return pipeline(incoming, createGunzip(), () => {});
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  return headers;
}

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WatchedEvent, WatchOptions } from './watch.js';

/** After this many milliseconds without an event, a line shows that the connection is alive. */
const ALIVE_MS = 15_000;

/** Sends events as they come, until the reader is gone. */
export async function streamEvents(
  watch: (options: WatchOptions) => AsyncIterable<WatchedEvent>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => gone.abort());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  response.flushHeaders();
  const alive = setInterval(() => response.write(': alive\n\n'), ALIVE_MS);
  try {
    for await (const { position, turnId, event } of watch({
      after: positionOf(request),
      signal: gone.signal,
    })) {
      const data = JSON.stringify({ turnId, event });
      const isTaken = response.write(`id: ${position}\nevent: ${event.type}\ndata: ${data}\n\n`);
      // A slow reader slows down only its own stream.
      if (!isTaken) await once(response, 'drain', { signal: gone.signal }).catch(() => {});
    }
  } finally {
    clearInterval(alive);
    response.end();
  }
}

/**
 * The position of the last event that the reader has: from the header of a browser, or `?after=` in
 * the first request.
 */
function positionOf(request: IncomingMessage): number {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const said = request.headers['last-event-id'] ?? searchParams.get('after') ?? '0';
  const position = Number(said);
  return Number.isSafeInteger(position) && position > 0 ? position : 0;
}

import type { Duplex, TransformCallback } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NetworkSpending } from './hop.js';
import type { ProxyContext } from './proxy-context.js';

/**
 * Connects a client with the place that it asked for. The proxy does not look at what goes through.
 */
export async function tunnel(
  target: URL,
  { client, head }: { client: Duplex; head: Buffer },
  context: ProxyContext,
): Promise<void> {
  const socket = await context.guard.connect(target, {
    ...context,
    timeoutMs: context.connectTimeoutMs,
  });
  socket.setTimeout(context.idleTimeoutMs, () => socket.destroy());
  try {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.unshift(head);
    await Promise.all([
      pipeline(client, metered('bytes_out', context), socket),
      pipeline(socket, metered('bytes_in', context), client),
    ]);
  } catch {
    // One end was reset, or a quota is used up. Inside a tunnel, the client can't be told.
  } finally {
    socket.destroy();
    client.destroy();
  }
}

/** Counts bytes, and then passes them on. */
export function metered(spent: NetworkSpending, { onSpend }: ProxyContext): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      try {
        onSpend?.({ [spent]: chunk.length });
        done(null, chunk);
      } catch (error) {
        done(
          error instanceof Error ? error : new Error('the bytes were refused', { cause: error }),
        );
      }
    },
  });
}

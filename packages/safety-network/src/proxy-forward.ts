import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { toNetworkError } from './denials.js';
import type { ProxyContext } from './proxy-context.js';
import { MARK_HEADER } from './proxy-mark.js';
import { forwardedHeaders } from './proxy-target.js';
import { metered } from './proxy-tunnel.js';

/** Forwards a request and its answer, on a connection of its own. */
export async function forwardRequest(
  target: URL,
  { from, to }: { from: IncomingMessage; to: ServerResponse },
  context: ProxyContext,
): Promise<void> {
  const { guard, idleTimeoutMs, onSpend } = context;
  const head = target.href.length + from.rawHeaders.join('').length;
  const socket = await guard.connect(target, {
    ...context,
    onSpend: (amounts) => onSpend?.({ ...amounts, bytes_out: head }),
    timeoutMs: context.connectTimeoutMs,
  });
  socket.setTimeout(idleTimeoutMs, () => socket.destroy());
  // The client is gone, so nobody waits for the answer.
  to.on('close', () => socket.destroy());
  try {
    const headers = forwardedHeaders(from.rawHeaders);
    headers.host = [target.host];
    if ('transfer-encoding' in from.headers) headers['transfer-encoding'] = ['chunked'];
    const onward = send({
      method: from.method,
      path: target.pathname + target.search,
      headers: { ...headers, connection: 'close' },
      setHost: false,
      createConnection: () => socket,
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      onward.on('response', resolve);
      onward.on('error', reject);
    });
    const sent = pipeline(from, metered('bytes_out', context), onward);
    // A server may answer before it has read the whole request.
    const answer = await Promise.race([answered, sent.then(() => answered)]);
    // A page may have told a server the value of the mark, so a server's own mark is removed.
    const { [MARK_HEADER]: _, ...answerHeaders } = forwardedHeaders(answer.rawHeaders);
    to.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders);
    await pipeline(answer, metered('bytes_in', context), to);
  } catch (error) {
    throw toNetworkError(target.host, error);
  } finally {
    socket.destroy();
  }
}

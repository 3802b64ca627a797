import type { IncomingMessage } from 'node:http';
import type { Refusal } from './request-gate.js';

/** Reads the JSON of a request, up to the size limit. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ body: unknown } | Refusal> {
  const tooLarge = { status: 413, message: `a request has at most ${maxBytes} bytes` };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part: Buffer = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > maxBytes) return tooLarge;
    chunks.push(part);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return { body };
  } catch {
    return { status: 400, message: 'the request is not JSON' };
  }
}

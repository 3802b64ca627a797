/**
 * Counts the bytes that a tool sends with a request: URL, header lines and body. `countStream`
 * counts those of a stream.
 */
export async function requestBytes(url: URL, init: RequestInit): Promise<number> {
  const { body } = init;
  let bytes = (init.method ?? 'GET').length + url.href.length;
  for (const [name, value] of new Headers(init.headers)) bytes += name.length + value.length + 4;
  if (body === undefined || body === null || isStream(body)) return bytes;
  if (typeof body === 'string') return bytes + Buffer.byteLength(body);
  if (body instanceof Blob) return bytes + body.size;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return bytes + body.byteLength;
  return bytes + (await new Response(body).arrayBuffer()).byteLength;
}

/** Returns a stream with the same bytes, and reports them before they are sent. */
export function countStream(
  body: StreamBody,
  onBytes: (count: number) => void,
): ReadableStream<Uint8Array> {
  const source = body instanceof ReadableStream ? body : ReadableStream.from(body);
  return source.pipeThrough(
    new TransformStream<unknown, Uint8Array>({
      transform(chunk, controller) {
        const bytes = bytesOf(chunk);
        onBytes(bytes.byteLength);
        controller.enqueue(bytes);
      },
    }),
  );
}

/**
 * Returns the bytes that `fetch` sends for a chunk.
 * @throws `TypeError` if `fetch` would
 */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TypeError('a chunk of a body is neither bytes nor text');
}

type StreamBody = ReadableStream<unknown> | AsyncIterable<unknown>;

/** Whether a body is a stream: its size is not known, and it can be sent only once. */
export function isStream(body: unknown): body is StreamBody {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** A body, or its beginning. */
export interface Body {
  bytes: Uint8Array;
  /** Whether the body is longer than the cap. */
  isPartial: boolean;
}

/** How to read a body. */
export interface ReadBodyOptions {
  /** How many bytes to read at most, after decompression. */
  maxBytes: number;
  /** Called with the number of bytes so far, and with the total if the server announced it. */
  onProgress?: (bytes: number, total: number | undefined) => void;
}

/** Reads a body up to a cap. @throws the errors of the body's stream */
export async function readBody(
  response: Response,
  { maxBytes, onProgress }: ReadBodyOptions,
): Promise<Body> {
  if (response.body === null) return { bytes: new Uint8Array(), isPartial: false };
  const total = announcedBytes(response.headers);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { bytes: joined(chunks, bytes), isPartial: false };
    const room = maxBytes - bytes;
    chunks.push(value.byteLength > room ? value.subarray(0, room) : value);
    bytes += Math.min(value.byteLength, room);
    onProgress?.(bytes, total);
    if (value.byteLength > room) {
      await reader.cancel().catch(() => {});
      return { bytes: joined(chunks, bytes), isPartial: true };
    }
  }
}

/** Returns the length that the server announced; `undefined` when the body is compressed. */
function announcedBytes(headers: Headers): number | undefined {
  if (headers.has('content-encoding')) return undefined;
  const text = headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

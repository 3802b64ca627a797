import type { Answer } from './http-cache.js';

/** The codings that every `fetch` unpacks. */
const UNPACKED: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);
/**
 * The other codings that pack a body.
 *
 * Source: https://www.iana.org/assignments/http-parameters/http-parameters.xhtml#content-coding
 */
const PACKED: ReadonlySet<string> = new Set([
  'aes128gcm',
  'compress',
  'dcb',
  'dcz',
  'exi',
  'pack200-gzip',
  'x-compress',
  'zstd',
]);
const ZSTD_START = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * Returns the coding that the body of an answer is still packed in. `fetch` passes a body on as it
 * came when it does not know one of its codings. A word that is no coding, such as `utf-8`, is a
 * mistake of the server. A body with such words only is not packed.
 *
 * @returns `undefined` when the body can be read as it is
 */
export function codingLeft({ headers, bytes }: Answer): string | undefined {
  if (bytes.length === 0) return undefined;
  const header = headers.get('content-encoding') ?? '';
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  // Newer versions of Node unpack zstd.
  const isZstd = ZSTD_START.equals(bytes.subarray(0, ZSTD_START.length));
  const isUnpacked = (coding: string) => UNPACKED.has(coding) || (coding === 'zstd' && !isZstd);
  if (codings.every(isUnpacked)) return undefined;
  return codings.findLast((coding) => UNPACKED.has(coding) || PACKED.has(coding));
}

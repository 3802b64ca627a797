import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Decides who may use the inspector. The one-time token is in the fragment of the address, which a
 * browser never sends. The page exchanges it for the key of its session. There is no cookie: a
 * cookie is sent to every port, and so to every other server of this machine.
 */
export class InspectorAccess {
  readonly token = newSecret();
  #isTokenUsed = false;
  #key: string | undefined;

  /** Returns the key for the token. Works only once. */
  exchange(token: unknown): string | undefined {
    if (typeof token !== 'string' || this.#isTokenUsed || !isSame(token, this.token)) {
      return undefined;
    }
    this.#isTokenUsed = true;
    this.#key = newSecret();
    return this.#key;
  }

  /** Whether a request has the key of the session. */
  hasKey({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
    const [, key] = /^Bearer ([\w-]+)$/.exec(headers.authorization ?? '') ?? [];
    return key !== undefined && this.#key !== undefined && isSame(key, this.#key);
  }
}

/**
 * Whether a request was sent to this server, and by its own page or no page. A request to another
 * name of this address is an attack by DNS rebinding.
 *
 * @param origin the server's own: `http://127.0.0.1:<port>`
 */
export function isFromHere(
  { headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
  origin: string,
): boolean {
  const site = headers['sec-fetch-site'];
  if (`http://${headers.host}` !== origin) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  // Browsers send the origin with every request except for a plain GET.
  if (headers.origin === undefined) return method === 'GET';
  return headers.origin === origin;
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Takes the same time wherever the texts differ. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

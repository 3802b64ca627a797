import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Who may ask. The one-time token is in the fragment of the address, which no browser sends; the page
 * exchanges it for the key of its session. There is no cookie: cookies know no ports, so that every
 * other server of this machine would be sent it.
 */
export class InspectorAccess {
  /** For the fragment of the address. */
  readonly token = newSecret();
  #isTokenUsed = false;
  #key: string | undefined;

  /** Gives the key for the token, once. */
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
 * Whether a request came for this server, and from its own page or none. Another name that leads here
 * is a rebound one.
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
  // Browsers name the origin of every request that is not a plain GET.
  if (headers.origin === undefined) return method === 'GET';
  return headers.origin === origin;
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** In a time that says nothing of where they differ. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

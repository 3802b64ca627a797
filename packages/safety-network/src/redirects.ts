import { parseUrl } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const BODY_HEADERS = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-type',
];

/**
 * Returns the absolute URL that a response redirects to; `null` if it is not a redirect.
 * @throws `NETWORK_FAILED` if the redirect leads to a malformed URL
 */
export function redirectTarget(response: Response, from: URL): URL | null {
  if (!REDIRECT_STATUS.has(response.status)) return null;
  const location = response.headers?.get('location') ?? null;
  if (location === null) return null;
  // Header values are decoded as Latin-1. In practice, other characters are UTF-8, and `fetch`
  // reads them so too.
  const text = Buffer.from(location, 'latin1').toString('utf8');
  const target = parseUrl(text, from.href);
  if (target === null) {
    throw new EthosError('NETWORK_FAILED', `${from.host} redirects to a malformed URL`);
  }
  return target;
}

/**
 * Returns the `init` after a redirect (WHATWG fetch, "HTTP-redirect fetch"), with one difference:
 * any header of the caller may be a credential, so only `accept*` and `user-agent` go to another
 * origin.
 *
 * @throws `NETWORK_FAILED` if a body would have to be sent again and is no longer there
 */
export function followRedirect(
  init: RequestInit,
  { status, from, to }: { status: number; from: URL; to: URL },
): RequestInit {
  const method = (init.method ?? 'GET').toUpperCase();
  const headers = new Headers(init.headers);
  if (to.origin !== from.origin) {
    init = { ...init, referrer: '' };
    for (const name of [...headers.keys()]) {
      if (!name.startsWith('accept') && name !== 'user-agent') headers.delete(name);
    }
  }
  const becomesGet =
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD');
  if (becomesGet) {
    for (const name of BODY_HEADERS) headers.delete(name);
    const { body: _, duplex: __, ...rest } = init;
    return { ...rest, method: 'GET', headers };
  }
  if (!isReplayable(init.body)) {
    const detail = `${from.host} redirects (${status}) a request whose body is a stream, which can't be sent twice; send a string or bytes`;
    throw new EthosError('NETWORK_FAILED', detail);
  }
  return { ...init, headers };
}

function isReplayable(body: RequestInit['body']): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    body instanceof URLSearchParams ||
    body instanceof FormData ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body)
  );
}

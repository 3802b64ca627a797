import { parseUrl } from '@ethosagent/policy';

const WEB_URL = /^https?:/i;
/** A shorter path, such as `/api/v1`, may be part of any text. */
const MIN_PATH_CHARS = 16;

/**
 * The forms that a secret takes as the URL of a request, such as the URL of a webhook: a request
 * normalizes it, its response has it without the fragment, the audit trail without the query, and what a
 * server says of it, such as `Cannot POST /services/T0/B0/key`, without the host.
 *
 * @param value of the secret, without spaces around it
 * @returns the forms; none if the value is not such a URL. A form that names only a host, and a short path
 * without a host, are left out
 */
export function urlForms(value: string): string[] {
  const url = WEB_URL.test(value) ? parseUrl(value) : null;
  if (url === null) return [];
  const { href, origin, pathname, search, username, password } = url;
  // What is secret of such a URL is the login, and no request can be made with it.
  if (username !== '' || password !== '') return [href];
  const paths = search === '' ? [pathname] : [`${pathname}${search}`, pathname];
  const places = paths.filter((path) => path !== '/').map((path) => `${origin}${path}`);
  return [href, ...places, ...paths.filter(({ length }) => length >= MIN_PATH_CHARS)];
}

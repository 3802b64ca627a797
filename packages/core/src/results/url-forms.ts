import { parseUrl } from '@ethosagent/policy';

const WEB_URL = /^https?:/i;

/**
 * The forms that a secret takes as the URL of a request, such as the URL of a webhook: a request
 * normalizes it, its response has it without the fragment, and the audit trail without the query.
 *
 * @param value of the secret, without spaces around it
 * @returns the forms; none if the value is not such a URL. A form that names only a host is left
 * out
 */
export function urlForms(value: string): string[] {
  const url = WEB_URL.test(value) ? parseUrl(value) : null;
  if (url === null) return [];
  const { href, origin, pathname, search, username, password } = url;
  // What is secret of such a URL is the login, and no request can be made with it.
  if (username !== '' || password !== '') return [href];
  const place = pathname === '/' ? [] : [`${origin}${pathname}`];
  const asked = search === '' ? [] : [`${origin}${pathname}${search}`];
  return [href, ...asked, ...place];
}

/** No host is longer in any spelling, and no user name and password needs to be. */
const MAX_AUTHORITY_LENGTH = 4_096;
/**
 * The scheme, the slashes, the user name and the host. For a relative reference, the match may be
 * longer.
 */
const AUTHORITY = /^[^/\\?#]*[/\\]*[^/\\?#]*/;
/** Characters that IDNA has to process: all beyond ASCII, also percent-encoded or as punycode. */
const NEEDS_IDNA = /[^\0-\x7f]|%|xn--/i;

/**
 * Parses a URL as WHATWG says, in linear time. A long host that needs IDNA is refused, because
 * IDNA takes quadratic time.
 *
 * @param url absolute, or relative to `base`
 * @param base an absolute URL that is known to parse, for a relative reference
 * @returns the URL, or `null` for a malformed one
 */
export function parseUrl(url: string | URL, base?: string): URL | null {
  // `URL.canParse` of Node.js 20 misreads Latin-1 strings once the engine has optimized it.
  try {
    const text = String(url);
    return text.length > MAX_AUTHORITY_LENGTH && isCostly(text) ? null : new URL(text, base);
  } catch {
    return null;
  }
}

/**
 * Whether a text is a URL that a model may give to a tool: its user name and password would be shown
 * and recorded with it.
 *
 * @param text what the model gave
 * @returns whether it is an absolute http or https URL without user name and password
 */
export function isWebUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '';
}

/**
 * The port of an http or https URL.
 *
 * @param url of http or https
 * @returns the port, also where the URL names none
 */
export function urlPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

function isCostly(text: string): boolean {
  // The parser removes tabs and line breaks at every place.
  const [authority = ''] = AUTHORITY.exec(text.replaceAll(/[\t\n\r]+/g, '')) ?? [];
  return authority.length > MAX_AUTHORITY_LENGTH && NEEDS_IDNA.test(authority);
}

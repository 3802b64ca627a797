import { decoded, HIDDEN, hidingInUrl } from './hidden-values.js';

/** Matches parts of names whose values are credentials. */
const TELLING =
  /pass|secret|token|jwt|auth|session|sid|sig|credential|code|otp|pin|nonce|ticket|assertion|saml|csrf|xsrf|state|cookie|key/i;
/** Matches names with such a part whose values are not credentials. */
const HARMLESS =
  /^(?:author|authors|keyword|keywords|keyboard|monkey|state|country_?code|zip_?code|postcode|pinned|encode|encoding|barcode|codec)$/i;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const MIN_TOKEN = 20;
const LONG_TOKEN = 40;
/** Matches a run of characters that a token may consist of. */
const TOKEN_PART = /[\w+/=~.-]{20,}/g;
/** Matches `"name": "value"`, where the value may also be a number. */
const JSON_PAIR = /"([^"\\]{1,80})"(\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/g;
const FORM_PAIR = /(^|[?&;\s])([\w.%[\]-]{1,80})=([^&;\s"'<>]+)/g;

/** Whether the value of this name may be a credential. */
export function isTellingName(name: string): boolean {
  return TELLING.test(name) && !HARMLESS.test(name);
}

/**
 * Returns a URL that may be shown: without user, password and other credentials. It finds them in
 * the query and the fragment by their names, and in the path by their form.
 */
export function shownUrl(url: string, secrets: readonly string[]): string {
  const [, origin = '', rest = url] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)?(.*)$/is.exec(url) ?? [];
  const shownOrigin = origin.replace(/\/\/[^@]*@/, '//');
  if (/^(?:data|blob|javascript):/i.test(url)) return `${url.slice(0, url.indexOf(':'))}:…`;
  const shown = rest.replace(/[^/?#&;]+/g, (part) => {
    const equals = part.indexOf('=');
    if (equals === -1) return looksLikeToken(decoded(part)) ? HIDDEN : part;
    const [name, value] = [part.slice(0, equals), part.slice(equals + 1)];
    const isSecret = isTellingName(decoded(name)) || looksLikeToken(decoded(value));
    return value !== '' && isSecret ? `${name}=${HIDDEN}` : part;
  });
  return hidingInUrl(secrets)(`${shownOrigin}${shown}`);
}

/**
 * Returns a text of a server without values that have the name of a credential or look like a
 * token.
 */
export function shownBody(text: string): string {
  return text
    .replace(JSON_PAIR, (...groups: string[]) => {
      const [pair = '', name = '', between = '', value = ''] = groups;
      return isTellingName(name) && value !== '""' ? `"${name}"${between}"${HIDDEN}"` : pair;
    })
    .replace(FORM_PAIR, (pair, before: string, name: string) =>
      isTellingName(decoded(name)) ? `${before}${name}=${HIDDEN}` : pair,
    )
    .replace(TOKEN_PART, (part) => (looksLikeToken(part) ? HIDDEN : part));
}

/** Whether a text looks random: long, with letters and digits mixed. */
function looksLikeToken(text: string): boolean {
  if (text.length < MIN_TOKEN || UUID.test(text) || /[^\w+/=~.-]/.test(text)) return false;
  if (/^eyJ[\w-]+\./.test(text)) return true;
  const longest = text.split(/[/.]|[-_](?=[a-z]+(?:[-_]|$))/).reduce(longer, '');
  if (longest.length < MIN_TOKEN) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(longest)).length;
  return kinds === 3 || (kinds === 2 && /\d/.test(longest)) || longest.length >= LONG_TOKEN;
}

function longer(left: string, right: string): string {
  return right.length > left.length ? right : left;
}

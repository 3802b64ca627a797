import { parseUrl } from './urls.js';

/** A parsed host pattern. Two patterns that mean the same have the same `text`. */
export interface HostPattern {
  /** `exact`: this host; `suffix`: any host below it, never itself; `any`: every host. */
  readonly kind: 'exact' | 'suffix' | 'any';
  /** The normalised host or suffix; empty for `any`. */
  readonly host: string;
  /** The only port that matches. Every port when `undefined`. */
  readonly port: number | undefined;
  /** The normalised spelling. */
  readonly text: string;
}

/**
 * Names that the URL parser does not change. Nearly every host is one, and is recognised without
 * the parser.
 */
const PLAIN_NAME = /^(?!.*xn--)(?:[a-z0-9_-]+\.)*[a-z][a-z0-9]*$/;
const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`);
/**
 * Characters that the URL parser would cut off, remove or decode, although they are no part of a
 * host.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused here
const DELIMITER = /[\u0000-\u0020\u007f/\\?#@%]/;
const MAX_NAME_LENGTH = 253;
/**
 * A name may be spelled longer than its normal form, but IDNA takes quadratic time for a long
 * spelling.
 */
const MAX_SPELLING_LENGTH = 1_024;
const MAX_PORT = 65_535;

/**
 * The one spelling of a host: as the WHATWG URL parser reads it, lower case, ASCII, IP addresses
 * canonical, IPv6 without brackets, one trailing dot dropped.
 *
 * @param host a host alone: no scheme, userinfo, port or path
 * @returns the normalised host, or `null` for anything that is not a host
 */
export function normalizeHost(host: string): string | null {
  if (host.length <= MAX_NAME_LENGTH && (PLAIN_NAME.test(host) || IPV4.test(host))) return host;
  if (host === '' || host.length > MAX_SPELLING_LENGTH || DELIMITER.test(host)) return null;
  if (host.includes(':')) return normalizeIPv6(host);
  const parsed = parseUrlHost(host);
  if (parsed === null) return null;
  const name = parsed.endsWith('.') ? parsed.slice(0, -1) : parsed;
  return name.length <= MAX_NAME_LENGTH && NAME.test(name) ? name : null;
}

/**
 * Parses a host pattern: an exact host, `*.suffix` (any depth, never the suffix itself) or `*`,
 * each with an optional `:port`. IPv6 is written bare, or in brackets when a port follows.
 *
 * @param pattern the text, in any case
 * @returns the pattern, or `null` for anything else
 */
export function parseHostPattern(pattern: string): HostPattern | null {
  const split = splitPort(pattern);
  if (split === null) return null;
  const { host, port } = split;
  if (host === '*') return hostPattern('any', '', port);
  const isSuffix = host.startsWith('*.');
  const name = normalizeHost(isSuffix ? host.slice(2) : host);
  if (name === null || (isSuffix && isIpLiteral(name))) return null;
  return hostPattern(isSuffix ? 'suffix' : 'exact', name, port);
}

/**
 * Whether a pattern covers a host.
 *
 * @param pattern see `parseHostPattern`; one that does not parse covers nothing
 * @param host a host, with `:port` if the port is known; without, a pattern with a port says no
 * @returns `false` also where one of the two is malformed
 */
export function hostMatches(pattern: string, host: string): boolean {
  const rule = parseHostPattern(pattern);
  const target = parseHostPattern(host);
  return (
    rule !== null &&
    target?.kind === 'exact' &&
    meetHostPatterns(rule, target)?.text === target.text
  );
}

/**
 * The pattern for what both patterns cover, normalised; `null` when there is nothing.
 *
 * @param a a host pattern
 * @param b a host pattern
 * @returns the pattern, or `null`
 */
export function meetHosts(a: string, b: string): string | null {
  const left = parseHostPattern(a);
  const right = parseHostPattern(b);
  return left && right && (meetHostPatterns(left, right)?.text ?? null);
}

/** The hosts that both parsed patterns cover; `null` if there are none. */
export function meetHostPatterns(a: HostPattern, b: HostPattern): HostPattern | null {
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return null;
  const narrower = coversHost(a, b) ? b : coversHost(b, a) ? a : null;
  return narrower && hostPattern(narrower.kind, narrower.host, a.port ?? b.port);
}

/**
 * Whether a normalised host is an IP address.
 *
 * @param host as `normalizeHost` gives it
 */
export function isIpLiteral(host: string): boolean {
  return host.includes(':') || IPV4.test(host);
}

function coversHost(wide: HostPattern, narrow: HostPattern): boolean {
  if (wide.kind === 'any') return true;
  if (narrow.kind === 'any') return false;
  if (wide.host === narrow.host) return wide.kind === narrow.kind;
  return wide.kind === 'suffix' && narrow.host.endsWith(`.${wide.host}`);
}

function hostPattern(
  kind: HostPattern['kind'],
  host: string,
  port: number | undefined,
): HostPattern {
  const spelled = kind === 'any' ? '*' : kind === 'suffix' ? `*.${host}` : host;
  return { kind, host, port, text: withPort(spelled, port) };
}

/** The spelling of a host or pattern with a port. IPv6 addresses get brackets. */
export function withPort(host: string, port: number | undefined): string {
  if (port === undefined) return host;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function splitPort(text: string): { host: string; port: number | undefined } | null {
  const colon = text.lastIndexOf(':');
  const isBareIPv6 = text.indexOf(':') !== colon && !text.startsWith('[');
  if (colon === -1 || isBareIPv6 || text.endsWith(']')) return { host: text, port: undefined };
  const digits = text.slice(colon + 1);
  const port = Number(digits);
  if (!/^[1-9]\d{0,4}$/.test(digits) || port > MAX_PORT) return null;
  return { host: text.slice(0, colon), port };
}

function normalizeIPv6(host: string): string | null {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (!/^[0-9a-f:.]+$/i.test(bare)) return null;
  return parseUrlHost(`[${bare}]`)?.slice(1, -1) ?? null;
}

function parseUrlHost(host: string): string | null {
  return parseUrl(`http://${host}/`)?.hostname ?? null;
}

import { isAbsolute } from 'node:path';
import { normalizeHost } from './hosts.js';
import { isWithin, normalizePath, pathAndParents, pathProblem } from './paths.js';
import { parseUrl, urlPort } from './urls.js';

/** Pages of one host, or files. */
export type TrustedSource =
  | {
      readonly kind: 'pages';
      readonly protocol: string;
      readonly host: string;
      readonly port: number;
      /** As the URL parser writes it. */
      readonly path: string;
      /** Everything below `path` too, which then ends with a slash. */
      readonly isTree: boolean;
    }
  | { readonly kind: 'files'; readonly path: string; readonly isTree: boolean };

export type TrustedSourceResult =
  | { ok: true; source: TrustedSource; text: string }
  | { ok: false; problem: string };

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|::1)$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the URL parser would drop them
const HIDDEN = /[\u0000-\u0020\u007f\\]/;

/**
 * Whether an entry of `safety.untrusted.trust` is meant as a source: a URL or a path. Names of tools
 * and group labels have neither slashes nor stars.
 *
 * @param entry as the operator wrote it
 */
export function isSourceEntry(entry: string): boolean {
  return /[/\\*$]/.test(entry) || SCHEME.test(entry);
}

/**
 * Reads a source that an operator trusts: `https://docs.example.com/*`, `https://example.com/page`,
 * `/home/me/notes/**` or `/home/me/notes.md`.
 *
 * @param entry as the operator wrote it
 * @returns the source with its one spelling, or what is wrong and what to write instead
 */
export function parseTrustedSource(entry: string): TrustedSourceResult {
  if (isAbsolute(entry)) return parseFiles(entry);
  if (SCHEME.test(entry)) return parsePages(entry);
  return refused(
    'is no source: write a URL such as https://docs.example.com/* or an absolute path such as /home/me/notes/**',
  );
}

function parsePages(entry: string): TrustedSourceResult {
  const [, whole = '', stars = ''] = /^(.*?)(\*{0,2})$/s.exec(entry) ?? [];
  const isTree = stars !== '';
  const url = parseUrl(whole);
  if (HIDDEN.test(entry) || url === null || !whole.toLowerCase().startsWith(`${url.protocol}//`)) {
    return refused('is not a URL such as https://docs.example.com/*');
  }
  const authority = /^[^/]*\/\/([^/]*)/.exec(whole)?.[1] ?? '';
  if (authority.includes('*')) {
    return refused(
      'trusts whoever gets a host that fits the *: name each host, as in https://docs.example.com/*',
    );
  }
  if (authority.includes('@')) return refused('must not hold a user name or a password');
  const host = normalizeHost(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  if (host === null) return refused('has no valid host');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(host))) {
    return refused(
      'must begin with https://: whoever is on the way can change what comes by another way (http:// is for localhost)',
    );
  }
  if (!/^[^/]*\/\/[^/]*\//.test(whole)) {
    return refused(`names no page: write ${url.protocol}//${url.host}/* for all pages of the host`);
  }
  if (/[?#]/.test(whole)) return refused('must not hold ? or #: a query does not say whose it is');
  if (whole.includes('*') || (isTree && !whole.endsWith('/'))) {
    return refused('may hold a * only at its end, after a /');
  }
  if (!isPlainUrlPath(url.pathname) || url.pathname !== pathAsWritten(whole)) {
    return refused('has a path that servers may read in several ways: write it without encodings');
  }
  const port = urlPort(url);
  return {
    ok: true,
    source: { kind: 'pages', protocol: url.protocol, host, port, path: url.pathname, isTree },
    text: `${url.protocol}//${hostText(host, url)}${url.pathname}${isTree ? '*' : ''}`,
  };
}

function hostText(host: string, url: URL): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return url.port === '' ? name : `${name}:${url.port}`;
}

function pathAsWritten(url: string): string {
  return /^[^/]*\/\/[^/]*(\/.*)$/s.exec(url)?.[1] ?? '';
}

function parseFiles(entry: string): TrustedSourceResult {
  const isTree = /[/\\]\*\*$/.test(entry);
  const path = isTree ? entry.slice(0, -3) : entry;
  if (path.includes('*')) return refused('may hold ** only at its end: /home/me/notes/**');
  if (path === '' || normalizePath(path) === normalizePath('/')) {
    return refused('trusts every file of the machine: name the folders that are meant');
  }
  if (path.split(/[\\/]/).includes('..')) return refused('must not have ".." segments');
  const problem = pathProblem(path);
  if (problem !== undefined) return refused(problem);
  const normal = normalizePath(path);
  return {
    ok: true,
    source: { kind: 'files', path: normal, isTree },
    text: isTree ? `${normal}/**` : normal,
  };
}

/** Whether a source is covered by another one. Paths are compared as they are written. */
export function coversSource(wide: TrustedSource, narrow: TrustedSource): boolean {
  if (wide.kind === 'files') {
    if (narrow.kind !== 'files' || (narrow.isTree && !wide.isTree)) return false;
    return wide.isTree ? isWithin(narrow.path, wide.path) : narrow.path === wide.path;
  }
  if (narrow.kind !== 'pages' || (narrow.isTree && !wide.isTree)) return false;
  const isSameOrigin =
    wide.protocol === narrow.protocol && wide.host === narrow.host && wide.port === narrow.port;
  if (!isSameOrigin) return false;
  if (!wide.isTree) return narrow.path === wide.path;
  // If the whole host is trusted, it does not matter how its server reads a path.
  if (wide.path === '/') return true;
  return narrow.path.startsWith(wide.path) && isPlainUrlPath(narrow.path);
}

/** The same key for every spelling of a source. */
export function sourceKey(source: TrustedSource): string {
  const tree = source.isTree ? '*' : '';
  if (source.kind === 'files') return `${source.path} ${tree}`;
  const { protocol, host, port, path } = source;
  return `${protocol}//${host} ${port} ${path} ${tree}`;
}

/** The key of a source, and the keys of the trees that can cover it. */
export function keysAround(source: TrustedSource): string[] {
  const above =
    source.kind === 'files'
      ? pathAndParents(source.path)
      : [...source.path.matchAll(/\//g)].map(({ index }) => source.path.slice(0, index + 1));
  const trees = above.map((path) => sourceKey({ ...source, path, isTree: true }));
  return [sourceKey(source), ...trees];
}

/**
 * Whether every server reads a path in the same way. Attack: `/docs/..%2fmine` is below `/docs/`
 * for a server that does not decode it, and is `/mine` for one that does. `/docs/..;/mine` works in
 * the same way.
 */
function isPlainUrlPath(path: string): boolean {
  if (/%(?:2e|2f|5c|25|3b|00)|\\/i.test(path)) return false;
  try {
    return decodeURIComponent(path)
      .normalize('NFKC')
      .split(/[/\\]/)
      .every((segment) => !/^\.{1,2}(?:;.*)?$/s.test(segment));
  } catch {
    // Invalid UTF-8. Overlong forms of a slash are also invalid.
    return false;
  }
}

function refused(problem: string): TrustedSourceResult {
  return { ok: false, problem };
}

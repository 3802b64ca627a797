import { normalizeHost } from './hosts.js';
import { isWithin } from './paths.js';
import {
  coversSource,
  isSourceEntry,
  keysAround,
  parseTrustedSource,
  sourceKey,
  type TrustedSource,
} from './trusted-source.js';
import { parseUrl, urlPort } from './urls.js';

/** Something that a call read, as the framework saw it at that time. */
export type ReadSource =
  /** The URL of one hop. Its query does not count. */
  | { readonly kind: 'url'; readonly url: string }
  /**
   * A file or folder: its path as it was named, absolute and normalised, and where that path led.
   */
  | { readonly kind: 'file'; readonly path: string; readonly real: string };

/** The sources that an operator trusts, compiled for many questions. */
export interface SourceTrust {
  /** Whether no source is trusted. */
  readonly isEmpty: boolean;
  /** Whether the source of a read is trusted. */
  covers(source: ReadSource): boolean;
}

type RealPathOf = (path: string) => string | undefined;

/**
 * The entries of `safety.untrusted.trust` that name tools and groups of tools.
 *
 * @param trust the entries, as the personality has them
 * @returns the names and labels
 */
export function trustedTools(trust: readonly string[] | undefined): string[] {
  return (trust ?? []).filter((entry) => !isSourceEntry(entry));
}

/**
 * Compiles the sources among the entries of `safety.untrusted.trust`. An entry that
 * `parseTrustedSource` does not take trusts nothing.
 *
 * @param trust the entries; tools among them are left out
 * @param realPathOf where a path leads. A folder that is a link stands for where it leads
 * @returns a check whether a source is trusted
 */
export function compileSourceTrust(
  trust: readonly string[] | undefined,
  realPathOf: RealPathOf = (path) => path,
): SourceTrust {
  const sources = (trust ?? []).filter(isSourceEntry).flatMap((entry) => {
    const parsed = parseTrustedSource(entry);
    return parsed.ok ? [parsed.source] : [];
  });
  return {
    isEmpty: sources.length === 0,
    covers: (read) => {
      const asked = sourceOfRead(read);
      if (asked === undefined) return false;
      return sources.some((source) => {
        const real = atRealPath(source, realPathOf);
        return real !== undefined && coversSource(real, asked);
      });
    },
  };
}

function sourceOfRead(read: ReadSource): TrustedSource | undefined {
  if (read.kind === 'file') return { kind: 'files', path: read.real, isTree: false };
  const url = parseUrl(read.url);
  const host = url && normalizeHost(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  // With a user name, a server may give an answer that nobody else gets.
  if (url === null || host === null || `${url.username}${url.password}` !== '') return undefined;
  const { protocol, pathname: path } = url;
  return { kind: 'pages', protocol, host, port: urlPort(url), path, isTree: false };
}

function atRealPath(source: TrustedSource, realPathOf: RealPathOf): TrustedSource | undefined {
  if (source.kind === 'pages') return source;
  const path = realPathOf(source.path);
  return path === undefined ? undefined : { ...source, path };
}

/**
 * The sources that both lists trust.
 *
 * @param realPath gives where a path leads: a folder of one list may be a link to outside a folder
 * of the other
 */
export function meetTrustedSources(
  a: readonly string[],
  b: readonly string[],
  realPath: (path: string) => string = (path) => path,
): string[] {
  const left = sourcesOf(a, realPath);
  const right = sourcesOf(b, realPath);
  const met = [...coveredBy(right, left), ...coveredBy(left, right)];
  return [...new Set(met.map(({ text }) => text))];
}

/** The `narrow` sources that one of the `wide` sources covers. */
function coveredBy(wide: readonly NamedSource[], narrow: readonly NamedSource[]): NamedSource[] {
  const known = new Map(wide.map(({ source }) => [sourceKey(source), source]));
  return narrow.filter(({ source }) =>
    keysAround(source).some((key) => {
      const found = known.get(key);
      return found !== undefined && coversSource(found, source);
    }),
  );
}

interface NamedSource {
  readonly source: TrustedSource;
  readonly text: string;
}

function sourcesOf(entries: readonly string[], realPath: (path: string) => string): NamedSource[] {
  return entries.filter(isSourceEntry).flatMap((entry) => {
    const parsed = parseTrustedSource(entry);
    if (!parsed.ok) return [];
    if (parsed.source.kind === 'pages') return [parsed];
    const { path, isTree } = parsed.source;
    const real = realPath(path);
    const at = parseTrustedSource(isTree ? `${real}/**` : real);
    return at.ok ? [at] : [];
  });
}

/**
 * Whether a file that was read may come from a write: it is a written place, holds one, or is in
 * one.
 *
 * @param file the path that was read, and where it leads
 * @param written absolute paths that somebody wrote
 * @returns whether what was read may come from such a write
 */
export function isWritten(
  { path, real }: Extract<ReadSource, { kind: 'file' }>,
  written: Iterable<string>,
): boolean {
  for (const place of written) {
    if ([path, real].some((read) => isWithin(read, place) || isWithin(place, read))) {
      return true;
    }
  }
  return false;
}

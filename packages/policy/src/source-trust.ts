import { normalizeHost } from './hosts.js';
import { clean, pathAndParents } from './paths.js';
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
 * Places that somebody wrote, each with everything below it. A question costs by the depth of the path,
 * and so does a change, however many places there are.
 */
export class WrittenPlaces {
  readonly #places = new Set<string>();
  /** By folder: how many places lie in it, at any depth. */
  readonly #inFolder = new Map<string, number>();

  /**
   * Places to ask about.
   *
   * @param written absolute paths. Those that can't name a file count for nothing
   */
  constructor(written: Iterable<string> = []) {
    for (const path of written) this.add(path);
  }

  /** The places, in one spelling, in the order in which they were added. */
  get all(): ReadonlySet<string> {
    return this.#places;
  }

  /**
   * Adds a place, with everything below it.
   *
   * @param path absolute
   */
  add(path: string): void {
    const place = clean(path);
    if (place === undefined || this.#places.has(place)) return;
    this.#places.add(place);
    this.#count(place, 1);
  }

  /**
   * Removes a place, and none below it.
   *
   * @param path absolute
   */
  delete(path: string): void {
    const place = clean(path);
    if (place !== undefined && this.#places.delete(place)) this.#count(place, -1);
  }

  /**
   * Whether a path is one of the places, or lies in one.
   *
   * @param path absolute
   * @returns `false` also for what can't name a file
   */
  holds(path: string): boolean {
    const asked = clean(path);
    return asked !== undefined && this.#liesIn(asked);
  }

  /**
   * Whether a file or folder that was read is one of the places, lies in one, or contains one.
   *
   * @param file the path that was read, and where it leads
   * @returns whether what was read may come from such a place
   */
  isWritten({ path, real }: Extract<ReadSource, { kind: 'file' }>): boolean {
    return [path, real].some((read) => {
      const asked = clean(read);
      return asked !== undefined && (this.#inFolder.has(asked) || this.#liesIn(asked));
    });
  }

  #liesIn(path: string): boolean {
    return pathAndParents(path).some((at) => this.#places.has(at));
  }

  #count(place: string, more: number): void {
    for (const folder of pathAndParents(place).slice(1)) {
      const count = (this.#inFolder.get(folder) ?? 0) + more;
      if (count > 0) this.#inFolder.set(folder, count);
      else this.#inFolder.delete(folder);
    }
  }
}

/**
 * Whether a file that was read may come from a write: it is a written place, contains one, or lies in
 * one. For more than one question, keep a `WrittenPlaces`.
 *
 * @param file the path that was read, and where it leads
 * @param written absolute paths that somebody wrote
 * @returns whether what was read may come from such a write
 */
export function isWritten(
  file: Extract<ReadSource, { kind: 'file' }>,
  written: Iterable<string>,
): boolean {
  return new WrittenPlaces(written).isWritten(file);
}

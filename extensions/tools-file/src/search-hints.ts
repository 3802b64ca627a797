import { basename, resolve } from 'node:path';
import type { ScopedFs } from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { reachableFiles } from './reachable-files.js';
import { renderName } from './render-search.js';
import type { Ripgrep } from './ripgrep.js';
import type { SearchPlace, SearchQuery } from './ripgrep-arguments.js';
import { similarity } from './similarity.js';
import { smallestFirst } from './smallest-first.js';

const MAX_NAMES = 3;
const MIN_SIMILARITY = 0.5;

/** What a search that found nothing may have meant. */
export interface HintOptions {
  fs: ScopedFs;
  ripgrep: Ripgrep;
  place: SearchPlace & { cwd: string };
  workingDir: string;
  signal: AbortSignal;
}

/**
 * What is near to a search that found nothing, as a sentence: files in which it matches in other
 * case, or with other blanks; for a glob, files with a name like it.
 */
export async function searchHint(
  query: SearchQuery,
  options: HintOptions,
): Promise<string | undefined> {
  for (const [what, near] of nearQueries(query)) {
    options.signal.throwIfAborted();
    const list = await options.ripgrep.listFiles(near, options.place);
    const names = list.ok ? await namesOf(smallestFirst(list.paths, MAX_NAMES), options) : [];
    if (names.length > 0) return `${what}, it matches in ${names.join(', ')}`;
  }
  const glob = query.globs.included[0];
  if (query.pattern !== undefined || glob === undefined) return undefined;
  const all = await options.ripgrep.listFiles({ ...query, globs: NO_GLOBS }, options.place);
  const wanted = basename(glob).replaceAll(/[*?[\]{}]/g, '');
  if (!all.ok || wanted.length < 2) return undefined;
  const near = all.paths
    .map((path) => ({ path, likeness: similarity(basename(path), wanted) }))
    .filter(({ likeness }) => likeness >= MIN_SIMILARITY)
    .sort((a, b) => b.likeness - a.likeness || (a.path < b.path ? -1 : 1));
  const names = await namesOf(
    near.map(({ path }) => path),
    options,
  );
  return names.length === 0 ? undefined : `the nearest names are ${names.join(', ')}`;
}

const NO_GLOBS = { nameGlobs: [], included: [], excluded: [], isNarrowed: true };

function* nearQueries(query: SearchQuery): Generator<[what: string, near: SearchQuery]> {
  const { pattern } = query;
  if (pattern === undefined) return;
  // With smart case, a pattern without a capital has met every case already.
  const isAnyCase =
    query.case === 'insensitive' || (query.case === 'smart' && !/\p{Lu}/u.test(pattern));
  if (!isAnyCase) yield ['in other case', { ...query, case: 'insensitive' }];
  if (!/\S\s+\S/.test(pattern)) return;
  const words = pattern.trim().split(/\s+/);
  const plain = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const near = words.map((word) => (query.fixedString ? plain(word) : word)).join('\\s+');
  yield ['with other blanks', { ...query, pattern: near, fixedString: false, case: 'insensitive' }];
}

/** Those in reach alone: ripgrep knows nothing of what is denied. */
async function namesOf(
  paths: Iterable<string>,
  { fs, place, workingDir }: HintOptions,
): Promise<string[]> {
  const absolute = function* () {
    for (const path of paths) yield resolve(place.cwd, path);
  };
  const reachable = await reachableFiles(fs, absolute(), MAX_NAMES);
  return reachable.map((path) => renderName(displayPath(workingDir, path)));
}

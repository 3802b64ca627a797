import { basename, resolve } from 'node:path';
import type { ScopedFs } from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { inOtherCase, withOtherBlanks } from './near-queries.js';
import { reachableFiles } from './reachable-files.js';
import { renderName } from './render-search.js';
import type { Ripgrep } from './ripgrep.js';
import type { SearchPlace, SearchQuery } from './ripgrep-arguments.js';
import { similarity } from './similarity.js';
import { smallestFirst } from './smallest-first.js';

const MAX_NAMES = 3;
const MIN_SIMILARITY = 0.5;

/** What `searchHint` needs beside the search. */
export interface HintOptions {
  fs: ScopedFs;
  ripgrep: Ripgrep;
  place: SearchPlace & { cwd: string };
  workingDir: string;
  signal: AbortSignal;
  /** Files in which the search matches with other blanks, if they are already known. */
  withBlanks?: readonly string[] | undefined;
}

/**
 * Says what is near to a search that found nothing: files in which it matches in other case or with
 * other blanks, or, for a glob, files with similar names.
 *
 * @returns a part of a sentence; `undefined` when nothing is near
 */
export async function searchHint(
  query: SearchQuery,
  options: HintOptions,
): Promise<string | undefined> {
  for (const [what, near, known] of nearQueries(query, options)) {
    options.signal.throwIfAborted();
    const list = known ?? (await pathsOf(near, options));
    const names = await namesOf(smallestFirst(list, MAX_NAMES), options);
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

type Near = [what: string, near: SearchQuery, known?: readonly string[] | undefined];

function* nearQueries(query: SearchQuery, { withBlanks }: HintOptions): Generator<Near> {
  if (query.pattern === undefined) return;
  const [otherCase, otherBlanks] = [inOtherCase(query), withOtherBlanks(query)];
  // The search with other blanks ignores case, too. If it found nothing, a search that only ignores case
  // would find nothing.
  if (otherCase !== undefined && withBlanks?.length !== 0) yield ['in other case', otherCase];
  if (otherBlanks !== undefined) yield ['with other blanks', otherBlanks, withBlanks];
}

async function pathsOf(
  query: SearchQuery,
  { ripgrep, place }: HintOptions,
): Promise<readonly string[]> {
  const list = await ripgrep.listFiles(query, place);
  return list.ok ? list.paths : [];
}

/** Returns the names of those files that are in reach: ripgrep does not know what is denied. */
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

import { basename, dirname, join } from 'node:path';
import { errorCodeOf, type ScopedFs } from '@ethosagent/types';
import { similarity } from './similarity.js';

const MAX_SUGGESTIONS = 3;
const MAX_NAMES = 5_000;
const MIN_SIMILARITY = 0.4;

/** Finds files in the folder of a missing file that have similar names, the most similar first. */
export async function nearNames(fs: ScopedFs, path: string): Promise<string[]> {
  const folder = dirname(path);
  const name = basename(path);
  const names = await withinReach(() => fs.list(folder), []);
  const near = names
    .slice(0, MAX_NAMES)
    .map((candidate) => ({ candidate, score: similarity(candidate, name) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => join(folder, candidate));
  // The folder may be listed, and some of its files may not be read: leave those out.
  const reachable = await Promise.all(
    near.map((candidate) => withinReach(() => fs.exists(candidate), false)),
  );
  return near.filter((_, at) => reachable[at]);
}

async function withinReach<T>(look: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return otherwise;
  }
}

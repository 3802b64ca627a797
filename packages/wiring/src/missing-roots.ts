import { statSync } from 'node:fs';
import { isWithin } from '@ethosagent/policy';
import type { PersonalityConfig } from '@ethosagent/types';
import { placeOfEntry } from './problems.js';
import type { RuntimeProblem } from './runtime-problem.js';

/**
 * Warns of entries of `fs_reach` at which there is nothing. Each is told of once, also if it is in
 * both lists. An entry that can't be looked at is not missing. Folders of the home that tools may
 * write are theirs, and their first write makes them.
 */
export function missingRootProblems(
  personality: PersonalityConfig,
  { file, home }: { file: string; home: string },
): RuntimeProblem[] {
  const { read = [], write = [] } = personality.fs_reach ?? {};
  const entries = [
    ...read.map((entry) => ({ key: 'fs_reach.read', entry })),
    ...write
      .filter((entry) => !read.includes(entry))
      .map((entry) => ({ key: 'fs_reach.write', entry })),
  ];
  return entries
    .filter(({ entry }) => {
      const isMade = write.includes(entry) && isWithin(entry, home) && !entry.includes('*');
      return !isMade && isMissing(entry);
    })
    .map(({ key, entry }) => {
      const place = placeOfEntry(file, personality, { key, entry });
      const next = entry.includes('*')
        ? '"*" is no wildcard here, so name the folder: all that is below it is reached'
        : 'correct the path, or make the folder';
      const message = `${place}: ${key}: there is nothing at ${entry}; ${next}`;
      return { file, key, tool: entry, message, heldBack: false };
    });
}

function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

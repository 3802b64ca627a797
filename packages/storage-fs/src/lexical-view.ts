import { homedir } from 'node:os';
import { denyFloor, HeldStorage } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { followLinks } from './follow-links.js';

/**
 * Holds a storage without links to a reach and to the deny floor, by the text of paths. One with
 * links is not contained by that.
 */
export function lexicalView(inner: Storage, reach: ContainedReach): HeldStorage {
  return new HeldStorage(inner, { reach: withFloor(reach) });
}

/** Holds a storage that has no contained view to a reach, by where its paths lead on this disk. */
export function realPathView(inner: Storage, reach: ContainedReach): HeldStorage {
  return new HeldStorage(inner, {
    reach: withFloor(reach),
    realPathOf: (path) => followLinks(path),
  });
}

function withFloor({ deny = [], ...reach }: ContainedReach): ContainedReach {
  return { ...reach, deny: [...denyFloor({ home: homedir() }), ...deny] };
}

import { homedir } from 'node:os';
import { denyFloor, HeldStorage } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { followLinks } from './follow-links.js';

/**
 * Limits a storage that has no links to a reach and to the deny floor, by the text of paths. A
 * storage with links could be left through a link.
 */
export function lexicalView(inner: Storage, reach: ContainedReach): HeldStorage {
  return new HeldStorage(inner, { reach: withFloor(reach) });
}

/**
 * Limits a storage without a contained view of its own to a reach, by where its paths lead on this
 * disk.
 */
export function realPathView(inner: Storage, reach: ContainedReach): HeldStorage {
  return new HeldStorage(inner, {
    reach: withFloor(reach),
    realPathOf: (path) => followLinks(path),
  });
}

function withFloor({ deny = [], ...reach }: ContainedReach): ContainedReach {
  return { ...reach, deny: [...denyFloor({ home: homedir() }), ...deny] };
}

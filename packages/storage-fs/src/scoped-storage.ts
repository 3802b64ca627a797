import { homedir } from 'node:os';
import { denyFloor, ForwardingStorage } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { realPathView } from './lexical-view.js';

/**
 * A storage held to one personality's reach. Denials are `BoundaryError`s; the deny floor is
 * always on.
 *
 * Where `inner` offers a contained view, that does the holding, and links can't leave the reach.
 * Where it doesn't, paths are judged by their text and by where they lead on this disk, right before
 * each access: weaker, since something may be swapped for a link in between.
 */
export class ScopedStorage extends ForwardingStorage {
  readonly #view: Storage;

  /**
   * @param inner the storage to hold
   * @param reach absolute roots; `deny` is added to the deny floor
   */
  constructor(inner: Storage, reach: ContainedReach) {
    // A storage of another package may have no deny floor of its own.
    const deny = [...denyFloor({ home: homedir() }), ...(reach.deny ?? [])];
    const view = inner.contained?.({ ...reach, deny }) ?? realPathView(inner, reach);
    super(view);
    this.#view = view;
  }

  /**
   * A view that is held to `reach` as well.
   *
   * @param reach absolute paths
   * @returns the narrower view
   */
  contained(reach: ContainedReach): Storage {
    return new ScopedStorage(this.#view, reach);
  }
}

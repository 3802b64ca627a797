import { homedir } from 'node:os';
import { denyFloor, ForwardingStorage } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { realPathView } from './lexical-view.js';

/**
 * A storage that is limited to one personality's reach. The deny floor always applies. Denials are
 * `BoundaryError`s with the code `PATH_NOT_REACHABLE`.
 *
 * If `inner` has `contained`, its contained view enforces the reach, and no link can leave it. If
 * not, this class checks each path right before its access, by its text and by where it leads on
 * this disk. That is weaker, since somebody may replace a folder by a link in between.
 */
export class ScopedStorage extends ForwardingStorage {
  readonly #view: Storage;

  /**
   * Limits a storage to a reach.
   *
   * @param inner the storage to limit
   * @param reach absolute roots for reading and writing; `deny` is added to the deny floor
   */
  constructor(inner: Storage, reach: ContainedReach) {
    // A storage of another package may have no deny floor of its own.
    const deny = [...denyFloor({ home: homedir() }), ...(reach.deny ?? [])];
    const view = inner.contained?.({ ...reach, deny }) ?? realPathView(inner, reach);
    super(view);
    this.#view = view;
  }

  /**
   * Returns a view that is limited to `reach` as well.
   *
   * @param reach absolute roots for reading and writing, and denied paths
   * @returns the narrower view
   */
  contained(reach: ContainedReach): Storage {
    return new ScopedStorage(this.#view, reach);
  }
}

import { basename, dirname, join } from 'node:path';
import type { ContainedReach, ReachKind, Storage, StorageEntry } from '@ethosagent/types';
import { createDenySet } from './deny-set.js';
import {
  type ForwardableStorage,
  ForwardingStorage,
  type StorageAnswer,
  type StorageChangeCall,
  type StorageChangeOptions,
  type StorageLook,
  type StoragePlace,
} from './forwarding-storage.js';
import { normalizePath } from './paths.js';
import { ReachGuard } from './reach-guard.js';
import { assertNotRevealed, openGuard, type StorageGuard } from './storage-guard.js';

type RealPathOf = (path: string) => string | undefined;

/** How a storage without a contained view of its own is held to a reach. */
export interface HeldStorageOptions {
  /** The reach, with everything that is denied. */
  readonly reach: ContainedReach;
  /**
   * Where a path leads, or would lead; `undefined` for links in a circle. Absent for a storage without
   * links, whose paths are what they say.
   */
  readonly realPathOf?: RealPathOf | undefined;
}

/**
 * A storage held to a reach from the outside: by the text of paths, and by where they lead. It does
 * not notice when something is swapped for a link between the look and the use, nor a hard link to
 * a denied file. The storage's own contained view does better.
 *
 * The storage is called with the arguments that its methods document, and no others.
 */
export class HeldStorage extends ForwardingStorage {
  readonly #inner: ForwardableStorage;
  readonly #realPathOf: RealPathOf | undefined;
  readonly #guard: StorageGuard;

  /**
   * Holds a storage to a reach.
   *
   * @param inner the storage behind
   * @param options the reach, and `realPathOf`: where an absolute path leads; absent for a storage
   * without links
   * @param outer a guard that has to allow each access as well
   * @throws `CONFIG_INVALID` for a denied path that could deny nothing
   */
  constructor(
    inner: ForwardableStorage,
    { reach, realPathOf }: HeldStorageOptions,
    outer: StorageGuard = openGuard,
  ) {
    super(inner);
    this.#inner = inner;
    this.#realPathOf = realPathOf;
    const { leads, deny = [], ...roots } = reach;
    const realOrAsked = realPathOf && ((path: string) => realPathOf(path) ?? path);
    this.#guard = new ReachGuard({
      reach: { ...roots, ...(realPathOf !== undefined && leads !== undefined && { leads }) },
      deny: createDenySet(deny, realOrAsked),
      outer,
      realPathOf: realOrAsked ?? ((path) => path),
    });
  }

  /**
   * A view that is held to `reach` as well.
   *
   * @param reach absolute paths
   * @returns the narrower view
   * @throws `CONFIG_INVALID` for a denied path that could deny nothing
   */
  contained(reach: ContainedReach): Storage {
    return new HeldStorage(this.#inner, { reach, realPathOf: this.#realPathOf }, this.#guard);
  }

  /** A link that leads out of the reach is not shown as a folder: that would tell what is there. */
  override async listEntries(path: string): Promise<StorageEntry[]> {
    const entries = await super.listEntries(path);
    const realPathOf = this.#realPathOf;
    if (realPathOf === undefined) return entries;
    const leadsIn = (name: string) => {
      const real = realPathOf(normalizePath(join(path, name)));
      return real !== undefined && this.#guard.mayRead(real);
    };
    return entries.map((entry) => ({ ...entry, isDir: entry.isDir && leadsIn(entry.name) }));
  }

  protected override async look<Operation extends StorageLook>(
    _operation: Operation,
    path: string,
    run: (path: string) => Promise<StorageAnswer<Operation>>,
  ): Promise<StorageAnswer<Operation>> {
    const at = this.#guard.enter('read', path);
    this.#guard.judge({ kind: 'read', asked: path }, this.#realOf('read', path, at));
    return run(at);
  }

  protected override async change(
    { operation, path, to }: StorageChangeCall,
    opts: StorageChangeOptions | undefined,
    run: (place: StoragePlace, opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    const isMove = operation === 'remove' || operation === 'rename';
    const source = this.#place(path, isMove);
    // Without `recursive`, a storage removes only files.
    const isFile = operation === 'remove' && opts?.recursive !== true;
    if (isMove) this.#guard.judgeMove(source.real, path, isFile);
    if (to === undefined) return this.#announced(opts, (own) => run({ path: source.at }, own));
    const target = this.#place(to, true);
    this.#guard.judgeMove(target.real, to, false);
    assertNotRevealed(this.#guard, { source: source.real, target: target.real, asked: path });
    return this.#announced(opts, (own) => run({ path: source.at, to: target.at }, own));
  }

  /** The place to change. @param isLink whether the operation is on the link itself */
  #place(asked: string, isLink: boolean): { at: string; real: string } {
    const at = this.#guard.enter('write', asked);
    const real = isLink
      ? join(this.#realOf('write', asked, dirname(at)), basename(at))
      : this.#realOf('write', asked, at);
    this.#guard.judge({ kind: 'write', asked }, real);
    return { at, real };
  }

  #realOf(kind: ReachKind, asked: string, path: string): string {
    if (this.#realPathOf === undefined) return path;
    return this.#realPathOf(path) ?? this.#guard.refuseLoop(kind, asked);
  }

  /** Only a storage that can be contained is certain to announce its changes. */
  async #announced(
    opts: StorageChangeOptions | undefined,
    run: (opts: StorageChangeOptions | undefined) => Promise<void>,
  ): Promise<void> {
    if (this.#inner.contained !== undefined || opts === undefined) return run(opts);
    const { beforeChange, ...rest } = opts;
    beforeChange?.();
    return run(Object.keys(rest).length === 0 ? undefined : rest);
  }
}

import { basename, dirname, join } from 'node:path';
import { BoundaryError, type ContainedReach, type ReachKind } from '@ethosagent/types';
import type { DenySet } from './deny-set.js';
import { compilePathSet, isWithin, type PathSet } from './paths.js';
import { leadOf } from './root-leads.js';
import type { Asking, FileIdentity, StorageGuard } from './storage-guard.js';

/** What a guard is made of. */
export interface ReachGuardOptions {
  readonly reach: ContainedReach;
  readonly deny: DenySet;
  /** A guard that must agree to everything as well. */
  readonly outer: StorageGuard;
  /** Where a path leads; the path itself for a storage without links. */
  readonly realPathOf: (path: string) => string;
}

const DELETED = ' (deleted)';

/**
 * Holds everything to a reach. The roots' real paths are looked up once, here. So a root that the
 * operator made a link works, and a root that becomes a link later leads nowhere new.
 */
export class ReachGuard implements StorageGuard {
  readonly #named: Record<ReachKind, PathSet>;
  readonly #real: Record<ReachKind, PathSet>;
  /** Where the roots themselves are, links not followed, and where they lead. */
  readonly #rootPlaces: readonly string[];
  readonly #deny: DenySet;
  readonly #outer: StorageGuard;

  /**
   * Looks up once where the roots of the reach lead.
   *
   * @param options the reach, the denied places, a guard that has to allow each access as well, and
   * where paths lead
   */
  constructor({ reach, deny, outer, realPathOf }: ReachGuardOptions) {
    this.#named = { read: compilePathSet(reach.read), write: compilePathSet(reach.write) };
    const leadsOf = (kind: ReachKind) =>
      this.#named[kind].roots.flatMap((root) => leadOf(root, reach.leads, realPathOf) ?? []);
    this.#real = {
      read: compilePathSet(leadsOf('read')),
      write: compilePathSet(leadsOf('write')),
    };
    const named = [...this.#named.read.roots, ...this.#named.write.roots];
    const places = named.map((root) => join(realPathOf(dirname(root)), basename(root)));
    this.#rootPlaces = [
      ...new Set([...places, ...this.#real.read.roots, ...this.#real.write.roots]),
    ];
    this.#deny = deny;
    this.#outer = outer;
  }

  enter(kind: ReachKind, asked: string): string {
    const path = this.#outer.enter(kind, asked);
    if (this.#named[kind].coversNormal(path) === undefined) throw new BoundaryError(kind, asked);
    if (this.#deny.covers(path) !== undefined) throw new BoundaryError(kind, asked, 'deny floor');
    return path;
  }

  judge(asking: Asking, realPath: string, stat?: FileIdentity): void {
    const { kind, asked } = asking;
    // The kernel appends this text to the name of a removed file. But a file may also have a name
    // that ends with it.
    const bare = realPath.endsWith(DELETED) ? realPath.slice(0, -DELETED.length) : realPath;
    const place = stat?.nlink === 0 ? bare : realPath;
    if (this.#real[kind].coversNormal(place) === undefined) {
      throw new BoundaryError(kind, asked, 'a link leaves the reach');
    }
    if (this.#isDenied(realPath) || (bare !== realPath && this.#isDenied(bare))) {
      throw new BoundaryError(kind, asked, 'deny floor');
    }
    if (stat !== undefined && this.#deny.hasInode(stat)) {
      throw new BoundaryError(kind, asked, 'deny floor: a hard link to a denied file');
    }
    this.#outer.judge(asking, realPath, stat);
  }

  judgeStep(realPath: string, asked: string): void {
    const { roots, coversNormal } = this.#real.write;
    const isOnTheWay =
      coversNormal(realPath) !== undefined || roots.some((root) => isWithin(root, realPath));
    if (!isOnTheWay) throw new BoundaryError('write', asked, 'a link leaves the reach');
    if (this.#isDenied(realPath)) throw new BoundaryError('write', asked, 'deny floor');
    this.#outer.judgeStep(realPath, asked);
  }

  judgeMove(realPath: string, asked: string, isFile: boolean): void {
    if (this.#deny.isBelow(realPath)) {
      throw new BoundaryError('write', asked, 'deny floor: a denied path is below');
    }
    // A root that is a file may be replaced and removed as a file. To replace any other root would
    // move the boundary.
    const holdsRoot = this.#rootPlaces.some(
      (root) => isWithin(root, realPath) && !(isFile && root === realPath),
    );
    if (holdsRoot) throw new BoundaryError('write', asked, 'a root of the reach stays in place');
    this.#outer.judgeMove(realPath, asked, isFile);
  }

  mayRead(realPath: string): boolean {
    return (
      this.#real.read.coversNormal(realPath) !== undefined &&
      !this.#isDenied(realPath) &&
      this.#outer.mayRead(realPath)
    );
  }

  refuseLoop(kind: ReachKind, asked: string): never {
    throw new BoundaryError(kind, asked, 'the links lead in a circle');
  }

  #isDenied(realPath: string): boolean {
    return this.#deny.covers(realPath) !== undefined;
  }
}

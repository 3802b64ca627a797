import { homedir } from 'node:os';
import { denyFloor, openGuard } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { descriptorAccess, hasDescriptors, realPathAccess } from './access.js';
import { DenyIndex } from './deny-index.js';
import { GuardedFs } from './guarded-fs.js';

/** Bytes that a read returns at most, unless an option says otherwise: 50 MB. */
export const DEFAULT_MAX_READ_BYTES = 50_000_000;

/** Options of `FsStorage`. */
export interface FsStorageOptions {
  /** Bytes that a read may return; a larger file is refused. 50,000,000 when absent. */
  maxReadBytes?: number;
  /** The home directory whose credentials every contained view denies. The user's when absent. */
  home?: string;
}

/**
 * Storage on the disk.
 *
 * Writes go to a temporary file with an unguessable name, which is synced and renamed over the
 * old one: after a crash there is the old content or the new. A file that is replaced keeps its
 * mode; a link as the last segment is followed. Pipes, sockets and devices are refused at once;
 * `/dev/null` reads as empty and swallows what is written.
 *
 * What is appended goes to the end of the file itself, and the disk is not waited for: a power loss
 * may take the last of it, one that fails midway leaves what it had added, and one that comes while
 * the file is replaced may go with the old file.
 *
 * This object itself reaches everything that the process may. `contained` is the way to hold it
 * to a reach.
 */
export class FsStorage extends GuardedFs {
  /**
   * The files of this machine, without the deny floor.
   *
   * @param options `home`: the user's home, whose credentials are denied; `maxReadBytes`: the
   * largest file that is read
   */
  constructor(options: FsStorageOptions = {}) {
    const floor = denyFloor({ home: options.home ?? homedir() });
    const access = hasDescriptors() ? descriptorAccess : realPathAccess;
    super(
      { access, guard: openGuard },
      {
        maxReadBytes: options.maxReadBytes ?? DEFAULT_MAX_READ_BYTES,
        denyIndexFor: createDenyIndexes(floor),
      },
    );
  }

  /**
   * A view that is held to `reach`, whatever links there are and however they change meanwhile.
   *
   * The credential places of the home directory, the system's secrets, `/proc`, `/sys` and `/dev`
   * are denied besides what `reach.deny` lists, also by another hard link. Roots that are links
   * are followed once, now. A view of a view is held to both.
   *
   * On Linux what was opened is judged by its descriptor. Elsewhere real paths are compared, and
   * a folder that is swapped for a link between check and use is not noticed.
   * @throws from its methods: `PATH_NOT_REACHABLE` (`BoundaryError`)
   */
  override contained(reach: ContainedReach): Storage {
    return super.contained(reach);
  }
}

const MAX_INDEXES = 64;

/**
 * Views with the same denied paths share an index, which is expensive to build and is kept as long
 * as the process.
 */
function createDenyIndexes(floor: readonly string[]): (deny: readonly string[]) => DenyIndex {
  const indexes = new Map<string, DenyIndex>();
  return (deny) => {
    const key = deny.join('\0');
    let index = indexes.get(key);
    if (index === undefined) {
      index = new DenyIndex([...floor, ...deny]);
      if (indexes.size >= MAX_INDEXES) indexes.clear();
      indexes.set(key, index);
    }
    return index;
  };
}

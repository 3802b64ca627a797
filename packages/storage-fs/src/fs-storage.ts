import { homedir } from 'node:os';
import { assertOptions, denyFloor, type OptionNames, openGuard } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { descriptorAccess, hasDescriptors, realPathAccess } from './access.js';
import { DenyIndex } from './deny-index.js';
import { GuardedFs } from './guarded-fs.js';

/** The most bytes that a read returns, unless an option gives another limit: 50 MB. */
export const DEFAULT_MAX_READ_BYTES = 50_000_000;

/** Options of `FsStorage`. */
export interface FsStorageOptions {
  /** The most bytes that a read may return; a larger file is refused. 50,000,000 when absent. */
  maxReadBytes?: number;
  /**
   * The home directory; every contained view denies the credentials in it. The home of the user
   * when absent.
   */
  home?: string;
}

const OPTIONS: OptionNames<FsStorageOptions> = {
  maxReadBytes: true,
  home: true,
};

/**
 * Storage on the disk.
 *
 * A write goes to a temporary file with a random name. That file is synced and then
 * renamed to the name of the old one, so after a crash the file has the old content or the new one.
 * The new file keeps the mode of the old one, and a link as the last segment is followed. Pipes,
 * sockets and devices are refused at once; `/dev/null` is empty when it is read, and discards what
 * is written.
 *
 * An append adds to the end of the file itself, and does not wait for the disk. After a power loss,
 * the last appends may be missing. An append that fails midway leaves the part that it has added.
 * An append while the file is being replaced may be lost with the old file.
 *
 * One call makes at most 64 missing parts of a path, and fails with `PATH_INVALID` for more.
 *
 * This object can reach every file that the process can. Use `contained` to limit it to a reach.
 */
export class FsStorage extends GuardedFs {
  /**
   * Opens the files of this machine, without the deny floor. Views made by `contained` have it.
   *
   * @param options `home`: the home directory, whose credentials are denied in views;
   * `maxReadBytes`: the size in bytes of the largest file that is read
   */
  constructor(options: FsStorageOptions = {}) {
    assertOptions('FsStorage', options, OPTIONS);
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
   * Returns a view that can't leave `reach`, whatever links there are and however they change.
   *
   * The view denies the places of credentials in the home directory, the system's secrets, `/proc`,
   * `/sys` and `/dev`, and the paths in `reach.deny`, also through other hard links. Roots that are
   * links are followed once, when the view is made. A view of a view is limited to both reaches.
   *
   * On Linux, each opened file is checked by its descriptor. On other systems real paths are
   * compared, and a folder that is replaced by a link between the check and the use is not noticed.
   *
   * @param reach absolute roots for reading and writing, and denied paths
   * @returns the view; its methods throw `PATH_NOT_REACHABLE` (`BoundaryError`) outside the reach
   */
  override contained(reach: ContainedReach): Storage {
    return super.contained(reach);
  }
}

const MAX_INDEXES = 64;

/**
 * Makes a function that returns the index of denied paths. Views with the same denied paths share
 * an index, which is expensive to build and is kept as long as the process.
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

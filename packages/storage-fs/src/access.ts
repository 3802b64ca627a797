import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EthosError } from '@ethosagent/types';

/** A folder that is held while something is done to its children. */
export interface Folder {
  /** Where the folder is now. */
  realPath(): string;
  /** A path by which the system reaches a child of this very folder. */
  child(name: string): string;
  close(): void;
}

/** How opened things are tied to their real paths. */
export interface Access {
  /** @param follow whether a link as the last segment is followed */
  openFolder(path: string, follow: boolean): Folder;
  /** The real path of an open file, or `undefined` when it can't be told. */
  realPathOf(fd: number, path: string, stat: Stats): string | undefined;
}

// Linux's value on every architecture that Node.js supports; Node.js doesn't export it. A
// descriptor of this kind needs no read permission and has no side effect on what it opens.
const O_PATH = 0o10000000;

/** Descriptors: what was opened is what is judged and used, however names change meanwhile. */
export const descriptorAccess: Access = {
  openFolder(path, follow) {
    const flags = O_PATH | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW);
    const fd = openSync(path, flags);
    const held = `/proc/self/fd/${fd}`;
    return {
      realPath: () => readlinkSync(held),
      child: (name) => `${held}/${name}`,
      close: () => closeSync(fd),
    };
  },
  realPathOf: (fd) => readlinkSync(`/proc/self/fd/${fd}`),
};

/**
 * Real paths, for systems without `/proc/self/fd`. A file is compared with what is at its real
 * path after it was opened. A folder that is swapped between check and use is not noticed.
 */
export const realPathAccess: Access = {
  openFolder(path, follow) {
    const realPath = follow
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path));
    if (!lstatSync(realPath).isDirectory()) {
      throw new EthosError('NOT_A_DIRECTORY', `${path} is not a folder`);
    }
    return {
      realPath: () => realPath,
      child: (name) => join(realPath, name),
      close: () => {},
    };
  },
  realPathOf(_fd, path, stat) {
    const realPath = realpathSync.native(path);
    const now = lstatSync(realPath);
    return now.dev === stat.dev && now.ino === stat.ino ? realPath : undefined;
  },
};

/** Whether this system has what `descriptorAccess` needs. */
export function hasDescriptors(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}

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

/** A folder that is held open while its children are read or changed. */
export interface Folder {
  realPath(): string;
  /**
   * A path through which the system reaches a child of exactly this folder, even if it was moved.
   */
  child(name: string): string;
  /** The same for a name as it is on the disk, which need not be UTF-8. */
  childBytes(name: Uint8Array): Buffer;
  close(): void;
}

/** A file that is held, and not opened. */
export interface HeldFile {
  /** A descriptor that tells about the file, and does not read it. */
  readonly fd: number;
  /** A path through which the system opens exactly this file. */
  readonly path: string;
}

/** Functions that open files and folders, and find their real paths. */
export interface Access {
  /**
   * Opens a folder.
   * @param follow whether a link as the last segment is followed
   */
  openFolder(path: string | Buffer, follow: boolean): Folder;
  /**
   * Holds what a path leads to, so that it can be checked before it is opened: to open a pipe wakes
   * its writer. Absent where the system does not offer it.
   */
  hold?(path: string): HeldFile;
  /** Returns the real path of an open file, or `undefined` if it is not known. */
  realPathOf(fd: number, path: string, stat: Stats): string | undefined;
}

// The value of Linux on every architecture that Node.js supports. Node.js does not export it. A
// descriptor of this kind needs no read permission and does not affect what it opens.
const O_PATH = 0o10000000;

/**
 * Uses descriptors. The invariant: the thing that was opened is the thing that is checked and used,
 * whatever happens to names meanwhile.
 */
export const descriptorAccess: Access = {
  openFolder(path, follow) {
    const flags = O_PATH | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW);
    const fd = openSync(path, flags);
    const held = `/proc/self/fd/${fd}`;
    return {
      realPath: () => readlinkSync(held),
      child: (name) => `${held}/${name}`,
      childBytes: (name) => Buffer.concat([Buffer.from(`${held}/`), name]),
      close: () => closeSync(fd),
    };
  },
  hold(path) {
    const fd = openSync(path, O_PATH);
    return { fd, path: `/proc/self/fd/${fd}` };
  },
  realPathOf: (fd) => readlinkSync(`/proc/self/fd/${fd}`),
};

/**
 * Uses real paths, for systems without `/proc/self/fd`. After a file was opened, it is compared
 * with the file at its real path. A folder that is replaced between the check and the use is not
 * noticed.
 */
export const realPathAccess: Access = {
  openFolder(asked, follow) {
    const path = asked.toString();
    const realPath = follow
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path));
    if (!lstatSync(realPath).isDirectory()) {
      throw new EthosError('NOT_A_DIRECTORY', `${path} is not a folder`);
    }
    return {
      realPath: () => realPath,
      child: (name) => join(realPath, name),
      childBytes: (name) => Buffer.concat([Buffer.from(join(realPath, '/')), name]),
      close: () => {},
    };
  },
  realPathOf(_fd, path, stat) {
    const realPath = realpathSync.native(path);
    const now = lstatSync(realPath);
    return now.dev === stat.dev && now.ino === stat.ino ? realPath : undefined;
  },
};

/** Whether this system offers what `descriptorAccess` needs. */
export function hasDescriptors(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}

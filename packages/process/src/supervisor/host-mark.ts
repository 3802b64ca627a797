import { closeSync, openSync, readlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_TAG } from './host-tag.js';

/** A descriptor by which the processes of this host are known that cleared their environment. */
export interface HostMark {
  descriptor: number;
  /** Where it leads, as `/proc` shows it. */
  target: string;
}

/** Opens an empty file, to be read only, that has no name any more. `undefined` where none can be made. */
export function openHostMark(): HostMark | undefined {
  if (process.platform !== 'linux') return undefined;
  for (const folder of ['/dev/shm', tmpdir()]) {
    const path = join(folder, `ethos-host-${process.pid}-${HOST_TAG.slice(-37, -1)}`);
    try {
      closeSync(openSync(path, 'wx', 0o600));
    } catch {
      continue;
    }
    try {
      const descriptor = openSync(path, 'r');
      unlinkSync(path);
      return { descriptor, target: readlinkSync(`/proc/self/fd/${descriptor}`) };
    } catch {
      // The next folder may do.
    }
  }
  return undefined;
}

import { closeSync, openSync, readlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_TAG } from './host-tag.js';

/**
 * A descriptor that marks processes of this host, even after they have cleared their environment.
 */
export interface HostMark {
  descriptor: number;
  /** Where the descriptor leads, as `/proc` shows it. */
  target: string;
}

/** Opens an empty file for reading and removes its name. `undefined` if that is not possible. */
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
      // Another folder may work.
    }
  }
  return undefined;
}

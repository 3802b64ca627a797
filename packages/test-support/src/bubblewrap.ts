import { spawnSync } from 'node:child_process';

/** Whether this machine can make a sandbox with Bubblewrap. */
export function hasBubblewrap(): boolean {
  const probe = ['--ro-bind', '/', '/', '--unshare-all', 'true'];
  return spawnSync('/usr/bin/bwrap', probe).status === 0;
}

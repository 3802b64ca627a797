import { spawnSync } from 'node:child_process';

/** Whether `strace` works here. Even if it is installed, it may not be permitted. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
}

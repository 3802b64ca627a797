import type { Stats } from 'node:fs';
import { usageError } from './cli-error.js';

const OTHERS_WRITE = 0o022;

/**
 * Refuses a file or a folder that another user may have written: its content would run as this
 * user.
 * @throws `CONFIG_INVALID`
 */
export function assertOwn(path: string, stat: Pick<Stats, 'uid' | 'mode'>): void {
  if (process.platform === 'win32') return;
  if (stat.uid !== 0 && stat.uid !== process.geteuid?.()) {
    throw usageError(
      `${path} belongs to another user, who could decide what runs; make it your own (chown)`,
    );
  }
  if ((stat.mode & OTHERS_WRITE) !== 0) {
    throw usageError(
      `${path} may be written by other users, who could decide what runs; take that away (chmod go-w ${path})`,
    );
  }
}

import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { usageError } from '../cli-error.js';

/**
 * Puts a new text instead of the one that was shown. The file keeps its mode; a link stays one.
 *
 * @throws `CONFIG_INVALID` where the file is no longer as it was shown
 */
export function replaceText(file: string, shown: string, text: string): void {
  const real = realpathSync(file);
  const fresh = `${real}.${randomUUID()}.tmp`;
  const { mode } = statSync(real);
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 });
    chmodSync(fresh, mode & 0o777);
    if (readFileSync(real, 'utf8') !== shown) {
      throw usageError(`${file} was changed meanwhile, so nothing was written; record again`);
    }
    renameSync(fresh, real);
  } finally {
    rmSync(fresh, { force: true });
  }
}

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
 * Replaces the text that was shown by a new one. The file keeps its mode, and a link stays a link.
 *
 * @throws `CONFIG_INVALID` if the file has changed since it was shown
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

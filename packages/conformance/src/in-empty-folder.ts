import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { TestContext } from 'vitest';

/**
 * Runs a part of a test in an empty folder. A storage with a hole takes an empty path for the current
 * folder of the process, and removes it: that must not be a folder with somebody's work. Skips the
 * test on a thread, which can't change its folder.
 */
export async function inEmptyFolder(context: TestContext, run: () => Promise<void>): Promise<void> {
  context.skip(!isMainThread, 'an empty path is only tried in a process; set `pool: "forks"`');
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'empty-folder-'));
  process.chdir(folder);
  try {
    await run();
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
}

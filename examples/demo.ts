// Runs every story of this folder, one after the other, and ends with the first that fails.
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { storyFiles } from './stories.ts';

for (const file of storyFiles()) {
  process.stdout.write(`\n===== ${relative(process.cwd(), file)}\n\n`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

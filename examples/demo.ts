// Runs stories of this folder, one after the other, and ends with the first that fails: those whose
// names are given, or all.
import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { storyFiles } from './stories.ts';

function named(): string[] {
  try {
    return storyFiles(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

for (const file of named()) {
  process.stdout.write(`\n===== ${relative(process.cwd(), file)}\n\n`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

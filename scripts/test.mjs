// The tests that a developer wants: of the folders that are named, else of what has changed since
// the last commit, else (`--changed=main`) since another.
import { spawnSync } from 'node:child_process';

const given = process.argv.slice(2);
const isNamed = given.some((arg) => !arg.startsWith('-') || arg.startsWith('--changed'));
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'vitest.workspace.ts', ...(isNamed ? [] : ['--changed']), ...given],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);

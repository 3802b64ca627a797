import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchProject, isSame, type Row, runBoth } from './contest.js';
import { PUBLISHED } from './published.js';
import { WRITTEN } from './written.js';

// Usage: tsx benchmarks/quality/run-tests/main.ts [a part of the names of projects]
// It downloads the projects, and what their tests need, from the npm registry. bun, deno, RSpec and
// PHPUnit have to be on the PATH.
const [part = ''] = process.argv.slice(2);
const base = await mkdtemp(join(tmpdir(), 'run-tests-'));
const path = process.env.PATH ?? '';
let same = 0;
const chosen = [...PUBLISHED, ...WRITTEN].filter(({ name, runner }) =>
  `${name} ${runner}`.includes(part),
);
try {
  console.log('| project | runner | run_tests | direct | same |\n| --- | --- | --- | --- | --- |');
  for (const project of chosen) {
    const dir = await fetchProject(project, base, path);
    const row = await runBoth(project, dir, path);
    if (isSame(row)) same += 1;
    print(row);
  }
} finally {
  await rm(base, { recursive: true, force: true });
}
console.log(
  `\n${same} of ${chosen.length} the same. Each cell: passed / failed / left out, and the end.`,
);

function print(row: Row): void {
  const cell = ({ passed, failed, left, passedAll }: Row['ours']) =>
    `${passed} / ${failed} / ${left}, ${passedAll ? 'passed' : 'failed'}`;
  const { name, runner, ours, direct } = row;
  const cells = [name, runner, cell(ours), cell(direct), isSame(row) ? 'yes' : 'NO'];
  console.log(`| ${cells.join(' | ')} |`);
}

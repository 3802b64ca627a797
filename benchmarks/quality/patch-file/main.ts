import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contest, type Row } from './contest.js';
import { editsOf, versionsFromGit } from './corpus.js';
import { WRITTEN } from './written.js';

// Usage: tsx benchmarks/quality/patch-file/main.ts [pairs of versions from git, 400 when absent]
const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const versions = [...versionsFromGit(root, Number(process.argv[2] ?? 400)), ...WRITTEN];
const edits = versions.flatMap((pair) => [3, 1, 0].flatMap((context) => editsOf(pair, context)));
const { rows, wrong } = await contest(edits);

console.log(`${edits.length} hunks of ${versions.length} changed files; right / wrong edits.\n`);
print(rows);
for (const replaceOnly of [false, true]) {
  const some = rows.filter((row) => row.replaceOnly === replaceOnly);
  print([total(replaceOnly ? 'the replacement alone is damaged' : 'all others', some)]);
}
for (const { perturbation, edit } of wrong) console.log(`wrong: ${perturbation}: ${edit.name}`);

function total(name: string, some: readonly Row[]): Row {
  const sum = (of: (row: Row) => number) => some.reduce((count, row) => count + of(row), 0);
  const tally = (who: keyof Row['tallies']) => ({
    right: sum(({ tallies }) => tallies[who].right),
    wrong: sum(({ tallies }) => tallies[who].wrong),
  });
  return {
    name,
    replaceOnly: false,
    tried: sum(({ tried }) => tried),
    tallies: {
      patch_file: tally('patch_file'),
      "Aider's method": tally("Aider's method"),
      'exact search-and-replace': tally('exact search-and-replace'),
    },
  };
}

function print(some: readonly Row[]): void {
  for (const { name, tried, tallies } of some) {
    const cells = Object.values(tallies).map(({ right, wrong }) => `${right} / ${wrong}`);
    console.log(`| ${[name, tried, ...cells].join(' | ')} |`);
  }
}

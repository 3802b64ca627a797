import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Row, Table } from './results.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const ROUNDS = 3;
/** A smaller difference is not reported, even if it was steady. */
const LEAST = 0.1;

/** The rows of one contender, by round. */
interface Sides {
  before: Row[];
  now: Row[];
}

/**
 * Runs axes on another commit and on what is here, in turns, each in a process of its own, and prints
 * what became slower or faster. A row that both commits have is compared; slower is what is slower in
 * every round than the other was in any.
 *
 * @returns whether nothing became slower
 */
export async function compareCommits(ref: string, axes: readonly string[]): Promise<boolean> {
  const commit = run('git', ['rev-parse', '--verify', `${ref}^{commit}`], repository).trim();
  const folder = mkdtempSync(join(tmpdir(), 'bench-compare-'));
  const before = join(folder, 'before');
  try {
    run('git', ['clone', '--quiet', '--no-checkout', repository, before], folder);
    run('git', ['checkout', '--quiet', commit], before);
    const pnpm = `pnpm@${packageManager().split('@')[1]}`;
    run('npx', ['-y', pnpm, 'install', '--frozen-lockfile', '--prefer-offline'], before);
    run('npx', ['-y', pnpm, 'run', 'build:js'], before);
    const rows = new Map<string, Sides>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const axis of axes) {
        measure(axis, {
          root: before,
          folder,
          note: (key, row) => side(rows, key).before.push(row),
        });
        measure(axis, {
          root: repository,
          folder,
          note: (key, row) => side(rows, key).now.push(row),
        });
      }
      console.log(`Round ${round + 1} of ${ROUNDS} is over.`);
    }
    return tell(rows, commit.slice(0, 10));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Side {
  root: string;
  folder: string;
  note: (key: string, row: Row) => void;
}

function measure(axis: string, { root, folder, note }: Side): void {
  const json = join(folder, 'tables.json');
  const main = join(root, 'benchmarks/src/main.ts');
  try {
    run('npx', ['tsx', main, axis, '--json', json], root);
  } catch {
    console.log(
      `  ${axis} can't be run on ${root === repository ? 'this commit' : 'the other commit'}.`,
    );
    return;
  }
  const tables: Table[] = JSON.parse(readFileSync(json, 'utf8'));
  for (const { title, rows } of tables) for (const row of rows) note(`${title}: ${row.name}`, row);
  rmSync(json);
}

function side(rows: Map<string, Sides>, key: string): Sides {
  const known = rows.get(key) ?? { before: [], now: [] };
  rows.set(key, known);
  return known;
}

function tell(rows: ReadonlyMap<string, Sides>, commit: string): boolean {
  const compared = [...rows].filter(([, { before, now }]) => before.length > 0 && now.length > 0);
  const slower = compared.filter(([, { before, now }]) => isSlower(now, before));
  const faster = compared.filter(([, { before, now }]) => isSlower(before, now));
  const print = (title: string, found: typeof compared) => {
    console.log(`\n${title}: ${found.length} of ${compared.length} rows`);
    for (const [key, { before, now }] of found) {
      const [was, is] = [middleOf(before), middleOf(now)];
      const times = (is.figure / was.figure).toFixed(2);
      console.log(`  ${key}: ${was.told} → ${is.told}, ${times}x`);
    }
  };
  print(`Slower than ${commit}`, slower);
  print(`Faster than ${commit}`, faster);
  return slower.length === 0;
}

function isSlower(one: readonly Row[], other: readonly Row[]): boolean {
  const figures = (rows: readonly Row[]) => rows.map(({ figure }) => figure);
  const isApart = Math.min(...figures(one)) > Math.max(...figures(other));
  return isApart && middleOf(one).figure > middleOf(other).figure * (1 + LEAST);
}

/** The row in the middle of the rounds. There is one of each at least. */
function middleOf(rows: readonly Row[]): Row {
  const sorted = [...rows].sort((a, b) => a.figure - b.figure);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('there is no round to compare');
  return middle;
}

function packageManager(): string {
  return JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).packageManager;
}

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareCommits } from './compare.js';
import { keepTable, keptTables, machine, type Table, toMarkdown } from './results.js';

// One file an axis. `pnpm bench dispatch` runs one of them.
const axes: Record<string, () => Promise<{ run: () => Promise<void> }>> = {
  dispatch: () => import('./dispatch.js'),
  definitions: () => import('./definitions.js'),
  imports: () => import('./imports.js'),
  'key-value': () => import('./key-value.js'),
  session: () => import('./session.js'),
  sessions: () => import('./sessions.js'),
  'contained-read': () => import('./contained-read.js'),
  'loopback-fetch': () => import('./loopback-fetch.js'),
  processes: () => import('./processes.js'),
  audit: () => import('./audit.js'),
  'search-files': () => import('./search-files.js'),
  telemetry: () => import('./telemetry.js'),
  'command-line': () => import('./command-line.js'),
  agent: () => import('./agent.js'),
  fleet: () => import('./fleet/main.js'),
};

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    // Runs another commit in turns, and reports what became slower.
    compare: { type: 'string' },
    // Writes the tables to `benchmarks/results`.
    save: { type: 'boolean', default: false },
    // Writes the figures to a file, for `--compare`.
    json: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(axes, name));
if (unknown.length > 0) {
  console.error(
    `No such benchmark: ${unknown.join(', ')}. There are: ${Object.keys(axes).join(', ')}`,
  );
  process.exit(1);
}
const asked = positionals.length > 0 ? positionals : Object.keys(axes);

if (values.compare !== undefined) {
  process.exitCode = (await compareCommits(values.compare, asked)) ? 0 : 1;
} else {
  if (values.json === undefined) console.log(`${machine()}; medians, contenders in turns.`);
  const [first, ...others] = asked;
  // What one axis leaves in memory slows down others: a large process starts children ten times as slowly.
  if (first !== undefined && others.length === 0) await (await axes[first]?.())?.run();
  else for (const table of asked.flatMap(measureAlone)) keepTable(table.title, table.rows);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(keptTables()));
  if (values.save) save();
}

/** Runs an axis in a process of its own, which prints its tables. */
function measureAlone(name: string): Table[] {
  const folder = mkdtempSync(join(tmpdir(), 'bench-axis-'));
  const json = join(folder, 'tables.json');
  const [, main = ''] = process.argv;
  try {
    execFileSync(process.execPath, [...process.execArgv, main, name, '--json', json], {
      stdio: 'inherit',
    });
    return JSON.parse(readFileSync(json, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function save(): void {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const isClean = git('status', '--porcelain') === '';
  const commit = `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : ', with changes'}`;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${date}.md`);
  writeFileSync(file, toMarkdown(keptTables(), { date, commit }));
  console.log(`\nWritten to ${file}`);
}

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestFolder } from './test-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** Whether this Node is at least what some frameworks, and the SQLite of Node, want: 22.13. */
export const isNode22 = major > 22 || (major === 22 && minor >= 13);

/**
 * Runs a program on Node 22: on this Node where it is as new, else on one that npx brings.
 *
 * @param args of Node: the program and what it takes
 * @returns what it wrote
 * @throws with all that it wrote, where it fails
 */
export async function runOnNode22(args: readonly string[]): Promise<string> {
  node22 ??= isNode22 ? Promise.resolve(process.execPath) : findNode22();
  return run(await node22, args);
}

/**
 * The file in which the workers share its path: npx takes longer to find Node than Node takes to
 * start.
 */
const FOUND = join(root, 'node_modules', '.cache', 'node-22.path');

let node22: Promise<string> | undefined;

async function findNode22(): Promise<string> {
  if (existsSync(FOUND)) {
    const known = readFileSync(FOUND, 'utf8');
    // The cache of npx may have been cleared.
    if (existsSync(known)) return known;
  }
  const node = ['--prefer-offline', '-y', '-p', 'node@22', '--', 'node'];
  const path = (await run('npx', [...node, '-p', 'process.execPath'])).trim();
  mkdirSync(dirname(FOUND), { recursive: true });
  writeFileSync(`${FOUND}.${process.pid}`, path);
  renameSync(`${FOUND}.${process.pid}`, FOUND);
  return path;
}

async function run(file: string, args: readonly string[]): Promise<string> {
  const env = Object.fromEntries(
    // biome-ignore lint/style/noProcessEnv: the other Node gets the environment of this one
    Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')),
  );
  const { stdout } = await promisify(execFile)(file, args, {
    cwd: root,
    env: { ...env, NODE_ENV: 'test' },
    maxBuffer: 2 ** 26,
  }).catch((error) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

/** What a run of test files came to, and the whole report as JSON. */
export interface NodeRunReport {
  success: boolean;
  numFailedTests: number;
  /** How many tests of a file passed. */
  passedIn(file: string): number;
  json: string;
}

interface VitestReport extends Pick<NodeRunReport, 'success' | 'numFailedTests'> {
  testResults: { name: string; assertionResults: { status: string }[] }[];
}

/**
 * Runs test files on Node 22 in a process of their own.
 *
 * @param files paths from the top of the repository
 * @throws with what the runner wrote, where a test fails
 */
export async function runTestsOnNode22(files: readonly string[]): Promise<NodeRunReport> {
  const folder = createTestFolder('node-22');
  try {
    const outputFile = join(folder.dir, 'report.json');
    const options = ['--config', 'vitest.workspace.ts', '--reporter=json'];
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    await runOnNode22([vitest, 'run', ...options, `--outputFile=${outputFile}`, ...files]);
    const json = readFileSync(outputFile, 'utf8');
    const { success, numFailedTests, testResults }: VitestReport = JSON.parse(json);
    const passedIn = (file: string) =>
      testResults
        .filter(({ name }) => name.endsWith(file))
        .flatMap(({ assertionResults }) => assertionResults)
        .filter(({ status }) => status === 'passed').length;
    return { success, numFailedTests, passedIn, json };
  } finally {
    folder.remove();
  }
}

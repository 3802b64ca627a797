import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const buffer = { maxBuffer: 2 ** 27 };

/** The majors of Node that a release is tried on. */
export const NODE_MAJORS = [20, 22, 24] as const;

const found = new Map<number, Promise<string>>();

/** @returns the path of a Node of that major: of this one where it is, else of one that npx brings */
export function nodeOf(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return Promise.resolve(process.execPath);
  const known = found.get(major);
  if (known !== undefined) return known;
  const args = [
    '--prefer-offline',
    '-y',
    '-p',
    `node@${major}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ];
  const path = run('npx', args).then(({ stdout }) => stdout.trim());
  found.set(major, path);
  return path;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

/** Runs a program by a Node, which is also the `node` that the program finds. */
export async function runBy(node: string, args: readonly string[], { cwd, env }: RunOptions) {
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const { stdout } = await run(node, args, {
    ...buffer,
    cwd,
    env: { ...withoutRunner(), ...env, PATH: path },
  });
  return stdout;
}

/** Runs npm by a Node. */
export async function runNpm(node: string, args: readonly string[], options: RunOptions) {
  const { stdout } = await run('npm', ['root', '--global']);
  const cli = realpathSync(join(stdout.trim(), 'npm', 'bin', 'npm-cli.js'));
  return runBy(node, [cli, ...args], options);
}

/** The environment, without the variables that pnpm, npm and vitest set for their own children. */
export function withoutRunner(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:npm_(?:command|execpath|lifecycle|node_execpath|package)|PNPM_|VITEST|NODE_ENV)/i.test(
          name,
        ),
    ),
  );
}

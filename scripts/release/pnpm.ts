import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { withoutRunner } from './nodes.js';
import { readManifest } from './packages.js';

/** Runs pnpm, and resolves to what it wrote: the one that runs this script, else the one of the root manifest. */
export async function pnpm(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...withoutRunner(), npm_config_verify_deps_before_run: 'false' };
  const [command, ...lead] = runner();
  const { stdout } = await promisify(execFile)(command, [...lead, ...args], {
    cwd,
    env,
    maxBuffer: 2 ** 27,
  });
  return stdout;
}

/** The pnpm that runs this script may be a program or a script. */
function runner(): [string, ...string[]] {
  const { npm_execpath: path } = process.env;
  // When pnpm installed Node, the path of npm contains the name pnpm, too.
  if (path === undefined || !basename(path).startsWith('pnpm'))
    return ['npx', '-y', String(readManifest('.').packageManager)];
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path];
}

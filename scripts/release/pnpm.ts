import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { withoutRunner } from './nodes.js';
import { readManifest } from './packages.js';

/** Runs the pnpm that the root manifest names, and resolves to what it wrote. */
export async function pnpm(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...withoutRunner(), npm_config_verify_deps_before_run: 'false' };
  const command = ['-y', String(readManifest('.').packageManager), ...args];
  const { stdout } = await promisify(execFile)('npx', command, { cwd, env, maxBuffer: 2 ** 27 });
  return stdout;
}

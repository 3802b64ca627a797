import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Kept between runs, and outside of the workspace: no package of ours depends on a peer. */
const PEERS = fileURLToPath(new URL('../.peers/', import.meta.url));

/** The versions that are compared with. */
const VERSIONS = {
  execa: '9.6.0',
  lmdb: '3.5.6',
  tinyexec: '1.3.1',
  undici: '7.30.2',
  unstorage: '1.17.6',
} as const;

/**
 * Imports a package of others, which is installed into a folder of its own when it is first asked for.
 *
 * @returns its module; `undefined`, with a line that says so, where it can't be installed
 */
export async function importPeer(
  name: keyof typeof VERSIONS,
  subpath = '',
): Promise<unknown | undefined> {
  const version = VERSIONS[name];
  const folder = join(PEERS, `${name}-${version}`);
  try {
    if (!existsSync(join(folder, 'node_modules', name))) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
      const npm = ['install', '--no-audit', '--no-fund', '--silent', `${name}@${version}`];
      execFileSync('npm', npm, { cwd: folder, stdio: 'ignore' });
    }
    const from = createRequire(join(folder, 'package.json'));
    return await import(pathToFileURL(from.resolve(`${name}${subpath}`)).href);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    console.log(`  Not run: ${name} ${version} (${why}).`);
    return undefined;
  }
}

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The folders of the packages that are published. */
export const packages = ['packages', 'extensions']
  .flatMap((group) => readdirSync(join(root, group)).map((folder) => join(root, group, folder)))
  .filter((folder) => !manifest(folder).private);

/** The pnpm that runs this script, which may be a program or a script; npx where there is none. */
export function pnpm(cwd: string, ...args: string[]): string {
  const { npm_execpath: runner } = process.env;
  const [command, ...lead] = !runner?.includes('pnpm')
    ? ['npx', '-y', manifest(root).packageManager]
    : /\.[cm]?js$/.test(runner)
      ? [process.execPath, runner]
      : [runner];
  return execFileSync(command, [...lead, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/**
 * Packs all packages, which must be built.
 *
 * @returns the tarball of each, by its name
 */
export function packAll(folder: string): Map<string, string> {
  const filters = packages.flatMap((each) => ['--filter', manifest(each).name]);
  pnpm(root, '--recursive', ...filters, 'pack', '--pack-destination', folder);
  return new Map(
    packages.map((each) => {
      const { name, version } = manifest(each);
      return [name, join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)];
    }),
  );
}

/** The `pnpm-workspace.yaml` of a project outside, which gets the packed packages and no others. */
export function outsideWorkspace(
  tarballs: ReadonlyMap<string, string>,
  { autoInstallPeers }: { autoInstallPeers: boolean },
): string {
  return [
    'packages: []',
    `autoInstallPeers: ${autoInstallPeers}`,
    'allowBuilds:',
    '  better-sqlite3: true',
    // It has prebuilt binaries, and works without them.
    '  msgpackr-extract: false',
    'overrides:',
    ...[...tarballs].map(([name, file]) => `  '${name}': 'file:${file}'`),
    '',
  ].join('\n');
}

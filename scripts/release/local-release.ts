import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalRegistry } from './local-registry.js';
import { nodeOf, runBy } from './nodes.js';
import { packAll } from './pack.js';
import { publishedPackages, ROOT, type WorkspacePackage } from './packages.js';
import { pnpm } from './pnpm.js';
import { publishAll } from './publish.js';

// A release of a copy of the repository into a registry at the loopback: version, build, pack and publish.
// Nothing leaves the machine but what npm asks for the packages of others.

const run = promisify(execFile);

/** A changeset for the dry run, so that the version always goes up. */
const CHANGESET = '---\n"@ethosagent/core": minor\n---\n\nA change that the dry run made up.\n';

export interface LocalRelease {
  /** A temporary folder, which goes with the release. */
  world: string;
  packages: readonly WorkspacePackage[];
  /** The one version of all packages. */
  version: string;
  registry: string;
  published: string[];
  /** What a second run of the publisher published. */
  publishedAgain: string[];
  changelog: string;
}

export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** @returns a step that says how long it took, in seconds */
export function timedStep(log: (line: string) => void): Step {
  return async (name, work) => {
    const started = performance.now();
    const result = await work();
    log(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return result;
  };
}

/**
 * Releases into a registry of its own, which is there while `use` runs.
 *
 * @throws where a step fails, with what it wrote
 */
export async function withLocalRelease<T>(
  step: Step,
  use: (release: LocalRelease) => Promise<T>,
): Promise<T> {
  const world = realpathSync(mkdtempSync(join(tmpdir(), 'ethos-release-')));
  try {
    const copy = join(world, 'repository');
    await step('copy', () => copyRepository(copy));
    await step('version', () => version(copy));
    const packages = publishedPackages(copy);
    const manifests = packages.map(({ manifest }) => manifest);
    await step('build', () => build(copy, packages));
    const tarballs = join(world, 'tarballs');
    await step('pack', () => packAll(tarballs, copy));
    const registry = await step('registry', () => startLocalRegistry(join(world, 'registry')));
    try {
      const options = {
        tarballs,
        registry: registry.url,
        userconfig: registry.userconfig,
        provenance: false,
      };
      // The second run begins as after a run that was cut off.
      const first = await publishAll(manifests.slice(0, 3), options);
      const rest = await step('publish', () => publishAll(manifests, options));
      const publishedAgain = await publishAll(manifests.slice(-3), options);
      return await use({
        world,
        packages,
        version: manifests[0]?.version ?? '',
        registry: registry.url,
        published: [...first, ...rest],
        publishedAgain,
        changelog: readFileSync(join(copy, 'packages', 'core', 'CHANGELOG.md'), 'utf8'),
      });
    } finally {
      await registry.close();
    }
  } finally {
    rmSync(world, { recursive: true, force: true });
  }
}

/** What git would commit, in a repository of its own. */
async function copyRepository(copy: string): Promise<void> {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', listed, { cwd: ROOT, maxBuffer: 2 ** 26 });
  for (const file of stdout
    .split('\0')
    .filter((name) => existsSync(join(ROOT, name)) && name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  writeFileSync(join(copy, '.changeset', 'dry-run.md'), CHANGESET);
  const git = (...args: string[]) => run('git', args, { cwd: copy, maxBuffer: 2 ** 26 });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  const author = ['-c', 'user.name=dry run', '-c', 'user.email=dry-run@localhost'];
  await git(...author, 'commit', '--quiet', '--no-gpg-sign', '-m', 'What is to be released');
}

async function version(copy: string): Promise<void> {
  await pnpm(copy, 'install', '--frozen-lockfile', '--prefer-offline');
  // Changesets wants a newer Node than the packages do.
  const changeset = join(copy, 'node_modules', '@changesets', 'cli', 'bin.js');
  await runBy(await nodeOf(22), [changeset, 'version'], { cwd: copy });
  const left = readdirSync(join(copy, '.changeset')).filter((name) =>
    /^(?!README).*\.md$/.test(name),
  );
  if (left.length > 0) throw new Error(`changeset version left ${left.join(', ')}`);
  // The lock file has no versions of workspace packages, so it stays as it is.
  await pnpm(copy, 'install', '--frozen-lockfile', '--prefer-offline');
}

async function build(copy: string, packages: readonly WorkspacePackage[]): Promise<void> {
  await runBy(process.execPath, ['scripts/build.mjs'], { cwd: copy });
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  const folders = packages.map(({ folder }) => folder);
  await runBy(process.execPath, [tsc, '-b', ...folders], { cwd: copy });
}

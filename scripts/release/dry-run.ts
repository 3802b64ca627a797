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
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { tryFreshFolder } from './fresh-folder.js';
import { startLocalRegistry } from './local-registry.js';
import { NODE_MAJORS, nodeOf, runBy } from './nodes.js';
import { packAll } from './pack.js';
import { publishedPackages, ROOT, type WorkspacePackage } from './packages.js';
import { pnpm } from './pnpm.js';
import { publishAll } from './publish.js';
import { readQuickstarts } from './quickstarts.js';

// The whole release in a copy of the repository, against a registry at the loopback: version, build, pack,
// publish, and the use of what was published in an empty folder. Nothing leaves the machine but what
// npm asks for the packages of others.

const run = promisify(execFile);

/** A change of its own, so that the version goes up whatever waits for the next release. */
const CHANGESET = '---\n"@ethosagent/core": minor\n---\n\nA change that the dry run made up.\n';

export interface DryRunResult {
  /** The one version of all packages. */
  version: string;
  published: string[];
  /** What a second run of the publisher published. */
  publishedAgain: string[];
  changelog: string;
  /** What the programs of the fresh folder said, by the major of Node. */
  fresh: Record<number, Awaited<ReturnType<typeof tryFreshFolder>>>;
}

export interface DryRunOptions {
  nodes?: readonly number[];
  log?: (line: string) => void;
}

/** @throws where any step fails, with what it wrote */
export async function dryRun({
  nodes = NODE_MAJORS,
  log = () => {},
}: DryRunOptions = {}): Promise<DryRunResult> {
  const world = realpathSync(mkdtempSync(join(tmpdir(), 'ethos-release-')));
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    log(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return result;
  };
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
      // As after a run that was cut off.
      const first = await publishAll(manifests.slice(0, 3), options);
      const rest = await step('publish', () => publishAll(manifests, options));
      const publishedAgain = await publishAll(manifests.slice(-3), options);
      const fresh: DryRunResult['fresh'] = {};
      for (const major of nodes) {
        const folder = join(world, `node-${major}`);
        fresh[major] = await step(`Node ${major}`, () =>
          tryFreshFolder({
            folder,
            major,
            packages,
            quickstarts: readQuickstarts(),
            registry: registry.url,
          }),
        );
      }
      return {
        version: manifests[0]?.version ?? '',
        published: [...first, ...rest],
        publishedAgain,
        changelog: readFileSync(join(copy, 'packages', 'core', 'CHANGELOG.md'), 'utf8'),
        fresh,
      };
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
  // The version of a dependency in the workspace is no part of the lock file, which so stays as it is.
  await pnpm(copy, 'install', '--frozen-lockfile', '--prefer-offline');
}

async function build(copy: string, packages: readonly WorkspacePackage[]): Promise<void> {
  await runBy(process.execPath, ['scripts/build.mjs'], { cwd: copy });
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  const folders = packages.map(({ folder }) => folder);
  await runBy(process.execPath, [tsc, '-b', ...folders], { cwd: copy });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({ options: { node: { type: 'string', multiple: true } } });
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const {
    version: released,
    published,
    fresh,
  } = await dryRun({
    log,
    ...(values.node ? { nodes: values.node.map(Number) } : {}),
  });
  log(`${published.length} packages of version ${released}: ${JSON.stringify(fresh, null, 2)}`);
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { tarballOf } from './pack.js';
import { type Manifest, publishedPackages, ROOT, readManifest } from './packages.js';

const run = promisify(execFile);

/** The host of an address that nobody has chosen yet. `.example` belongs to nobody (RFC 2606). */
const PLACEHOLDER = /^(?:git\+)?https?:\/\/[^/]*\.example(?:[/:]|$)/;

/**
 * Why a release to a public registry has to wait, or `undefined`.
 *
 * @param repository `<owner>/<name>` on the host that runs the workflow, where one does
 */
export function obstacleTo(root: Manifest, repository?: string): string | undefined {
  const url = root.repository?.url ?? '';
  if (PLACEHOLDER.test(url)) {
    return `package.json has the address ${url}, which is a placeholder. Write the real address of the repository there, and run "pnpm manifests".`;
  }
  if (repository !== undefined && !url.endsWith(`/${repository}.git`)) {
    return `package.json has the address ${url}, and this workflow runs in ${repository}. npm refuses provenance where the two differ.`;
  }
  return undefined;
}

export interface PublishOptions {
  /** The folder of the packed tarballs. */
  tarballs: string;
  /** The one of npm's configuration, where it isn't given. */
  registry?: string;
  /** Whether npm attests which workflow built the tarball. Needs a workflow with `id-token: write`. */
  provenance: boolean;
  /** A file with settings of npm, such as the token of a registry. */
  userconfig?: string;
}

/**
 * Publishes every tarball whose version the registry lacks, each after those that it depends on. A run
 * that was cut off is started again and goes on where it ended.
 *
 * @returns the names and versions that were published by this run
 * @throws where a tarball is missing, before anything is published
 */
export async function publishAll(
  manifests: readonly Manifest[],
  { tarballs, registry, provenance, userconfig }: PublishOptions,
): Promise<string[]> {
  const missing = manifests.map(tarballOf).filter((file) => !existsSync(join(tarballs, file)));
  if (missing.length > 0)
    throw new Error(`${tarballs} lacks ${missing.join(', ')}. Run pnpm release:pack.`);
  const from = registry ?? (await defaultRegistry());
  const settings = [`--registry=${from}`, ...(userconfig ? [`--userconfig=${userconfig}`] : [])];
  const published: string[] = [];
  for (const manifest of manifests) {
    const id = `${manifest.name}@${manifest.version}`;
    if (await isPublished(manifest, from)) continue;
    const file = join(tarballs, tarballOf(manifest));
    const options = ['--access=public', `--provenance=${provenance}`, ...settings];
    await run('npm', ['publish', file, ...options], { maxBuffer: 2 ** 26 });
    published.push(id);
  }
  return published;
}

/** @throws where the registry answers with anything but the package or 404 */
async function isPublished({ name, version }: Manifest, registry: string): Promise<boolean> {
  const response = await fetch(new URL(name.replace('/', '%2f'), registry));
  if (response.status === 404) return false;
  if (!response.ok) throw new Error(`The registry answers ${response.status} for ${name}.`);
  const { versions } = Object(await response.json());
  return Object.hasOwn(Object(versions), version);
}

async function defaultRegistry(): Promise<string> {
  const { stdout } = await run('npm', ['config', 'get', 'registry']);
  return stdout.trim();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      tarballs: { type: 'string', default: join(ROOT, 'tarballs') },
      registry: { type: 'string' },
      provenance: { type: 'boolean', default: false },
    },
  });
  // The workflow says in its environment where it runs.
  const obstacle = obstacleTo(readManifest('.'), process.env.GITHUB_REPOSITORY);
  if (obstacle !== undefined) throw new Error(obstacle);
  const manifests = publishedPackages().map(({ manifest }) => manifest);
  for (const id of await publishAll(manifests, values)) process.stdout.write(`published ${id}\n`);
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Manifest, publishedPackages, ROOT } from './packages.js';
import { pnpm } from './pnpm.js';
import { billOfMaterials, refusedLicences } from './sbom.js';

/** The file that `pnpm pack` makes of a package. */
export function tarballOf({ name, version }: Manifest): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

/**
 * Packs every package that is published. They are built by then.
 *
 * @returns the tarball of each, by its name
 */
export async function packAll(tarballs: string, top = ROOT): Promise<Map<string, string>> {
  const manifests = publishedPackages(top).map(({ manifest }) => manifest);
  const filters = manifests.flatMap(({ name }) => ['--filter', name]);
  await pnpm(top, '--recursive', ...filters, 'pack', '--pack-destination', tarballs);
  return new Map(manifests.map((each) => [each.name, join(tarballs, tarballOf(each))]));
}

// `pnpm release:pack` makes all that a release consists of: the tarballs, and what they depend on.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const bill = await billOfMaterials();
  const refused = refusedLicences(bill);
  if (refused.length > 0) throw new Error(`These licences are on no list: ${refused.join('; ')}`);
  mkdirSync(join(ROOT, 'tarballs'), { recursive: true });
  writeFileSync(join(ROOT, 'tarballs', 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  await packAll(join(ROOT, 'tarballs'));
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { publishedPackages, ROOT } from './packages.js';
import { pnpm } from './pnpm.js';
import { billOfMaterials, refusedLicences } from './sbom.js';

/** Packs every package that is published. They are built by then. */
export async function packAll(tarballs: string, top = ROOT): Promise<void> {
  const filters = publishedPackages(top).flatMap(({ manifest }) => ['--filter', manifest.name]);
  await pnpm(top, '--recursive', ...filters, 'pack', '--pack-destination', tarballs);
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

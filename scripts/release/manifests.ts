import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Manifest, publishedPackages, ROOT, readManifest } from './packages.js';

/** The fields that every package has from the root manifest, which is the one place for them. */
const SHARED = ['license', 'author', 'homepage', 'bugs', 'funding'] as const;

/** Where a field stands in a manifest: after these, in this order. */
const ORDER = [
  'name',
  'version',
  'private',
  'description',
  'keywords',
  'homepage',
  'bugs',
  'repository',
  'funding',
  'license',
  'author',
];

/**
 * The manifest of a package as it has to be.
 *
 * @param folder from the top of the repository
 * @param root the manifest of the repository
 */
export function withSharedFields(manifest: Manifest, folder: string, root: Manifest): Manifest {
  const shared = Object.fromEntries(SHARED.map((field) => [field, root[field]]));
  const all: Manifest = {
    ...manifest,
    ...shared,
    repository: { type: 'git', url: root.repository?.url ?? '', directory: folder },
    publishConfig: { access: 'public' },
  };
  const rest = Object.keys(all).filter((field) => !ORDER.includes(field));
  const ordered = [...ORDER.filter((field) => all[field] !== undefined), ...rest];
  return { ...Object.fromEntries(ordered.map((field) => [field, all[field]])), ...all };
}

// `pnpm manifests` writes them.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = readManifest('.');
  for (const { folder, manifest } of publishedPackages()) {
    const text = `${JSON.stringify(withSharedFields(manifest, folder, root), null, 2)}\n`;
    writeFileSync(join(ROOT, folder, 'package.json'), text);
  }
}

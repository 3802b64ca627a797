import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Reads the files of a folder in `templates`. Returns their texts, by their paths in a project.
 *
 * Some names would be read or left out by npm when it packs this package. They begin with `_` in
 * the folder: `_package.json` becomes `package.json`.
 */
export function readTemplate(name: string): Record<string, string> {
  const folder = join(PACKAGE, 'templates', name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    files.map((file) => {
      const segments = relative(folder, file).split(sep);
      const path = segments.map((segment) => segment.replace(/^_/, '')).join('/');
      return [path, readFileSync(file, 'utf8')];
    }),
  );
}

/** Returns the version of this package, which is also that of the packages in a template. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
  );
  return manifest.version;
}

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * The files of a folder of `templates`, by their paths in a project.
 *
 * A name that npm would read or leave out while it packs begins with `_` in the folder:
 * `_package.json` becomes `package.json`.
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

/** The version of this package, which is that of the packages that a template depends on. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
  );
  return manifest.version;
}

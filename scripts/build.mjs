// Builds every package, in one process: loading the bundler takes longer than a package does. A package
// on its own is built by its script `build`.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['packages', 'extensions']
  .flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
  .filter((folder) => existsSync(join(folder, 'tsup.config.ts')));

// One after another: the bundler looks up a package's configuration and dependencies from the working directory.
for (const folder of folders) {
  process.chdir(folder);
  await build({ config: 'tsup.config.ts' });
}

// Builds every package, in one process: loading the bundler takes longer than a package does. A package
// on its own is built by its script `build`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = new Map(
  ['packages', 'extensions']
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
    .filter((folder) => existsSync(join(folder, 'tsup.config.ts')))
    .map((folder) => {
      const { name, dependencies = {} } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      );
      return [name, { folder, dependencies: Object.keys(dependencies) }];
    }),
);

// A package may bundle the output of another one, so it is built after its dependencies.
const ordered = new Set();
function order(name) {
  const { folder, dependencies } = packages.get(name) ?? {};
  if (folder === undefined || ordered.has(folder)) return;
  for (const dependency of dependencies) order(dependency);
  ordered.add(folder);
}
for (const name of packages.keys()) order(name);

// One after another: the bundler looks up a package's configuration and dependencies from the working directory.
for (const folder of ordered) {
  process.chdir(folder);
  await build({ config: 'tsup.config.ts' });
}

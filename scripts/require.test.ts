import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publishedPackages, ROOT } from './release/packages.js';

const SCRIPT = `
const problems = [];
for (const file of process.argv.slice(1)) {
  try { require(file); } catch (error) { problems.push(file + ': ' + error.message); }
}
console.log(JSON.stringify(problems));
process.exit();
`;

// Node loads a module by `require` if no `await` is at the top level of it or of what it imports.
// Needs a build, which `pnpm check` makes first.
it('a CommonJS program can require every entry of every package', () => {
  const entries = publishedPackages().flatMap(({ folder, manifest }) =>
    Object.values(manifest.exports ?? {}).map((target) => join(ROOT, folder, target.default)),
  );
  expect(entries.length).toBeGreaterThan(35);
  const printed = execFileSync(process.execPath, ['--eval', SCRIPT, ...entries], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(printed)).toEqual([]);
});

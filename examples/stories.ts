import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));

/** The programs of the stories, `first-run` first. */
export function storyFiles(): string[] {
  const names = readdirSync(folder).sort();
  return ['first-run', ...names.filter((name) => name !== 'first-run')]
    .map((name) => join(folder, name, 'src', 'main.ts'))
    .filter((file) => existsSync(file));
}

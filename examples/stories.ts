import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));

const programOf = (name: string) => join(folder, name, 'src', 'main.ts');

/** The names of the stories, `first-run` first. */
export function storyNames(): string[] {
  const names = readdirSync(folder).sort();
  return ['first-run', ...names.filter((name) => name !== 'first-run')].filter((name) =>
    existsSync(programOf(name)),
  );
}

/**
 * The programs of the named stories, or of all of them if none is named.
 *
 * @throws for a name that no story has
 */
export function storyFiles(names: readonly string[] = []): string[] {
  const all = storyNames();
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    throw new Error(`there is no example "${unknown[0]}"; there are ${all.join(', ')}`);
  }
  return (names.length === 0 ? all : names).map(programOf);
}

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { REPOSITORY } from './markdown.js';

/** What a package offers under one specifier. */
export interface Entry {
  /** As one imports it, e.g. `@ethosagent/core/scoped`. */
  specifier: string;
  /** The page that describes it, from the root of the repository. */
  page: string;
  exports: readonly Export[];
}

export interface Export {
  name: string;
  /** The declaration file that says what it is. Only there once the package is built. */
  declarations: string;
  /** The source file that it is exported from. */
  source: string;
  /** Where the entry has it from: a path, or another package. */
  from: string;
}

/** The public exports of every package. */
export function publicEntries(): Entry[] {
  return ['packages', 'extensions'].flatMap((group) =>
    readdirSync(join(REPOSITORY, group)).flatMap((folder) => entriesOf(join(group, folder))),
  );
}

function entriesOf(folder: string): Entry[] {
  const root = join(REPOSITORY, folder);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (manifest.private) return [];
  return Object.entries<{ types: string }>(manifest.exports).map(([subpath, { types }]) => {
    const declarations = join(root, types);
    const source = join(root, types.replace('./dist/', 'src/').replace('.d.ts', '.ts'));
    return {
      specifier: `${manifest.name}${subpath.slice(1)}`,
      page: `docs/reference/${basename(folder)}.md`,
      exports: exportsOf(readFileSync(source, 'utf8'), source).map(({ name, from }) => ({
        name,
        from,
        declarations: join(dirname(declarations), from.replace(/\.js$/, '.d.ts')),
        source: join(dirname(source), from.replace(/\.js$/, '.ts')),
      })),
    };
  });
}

const EXPORT = /^export (?:type )?\{([^}]*)\} from '([^']+)';$/gm;

/** @throws for an export of another form than by name */
export function exportsOf(source: string, file: string): { name: string; from: string }[] {
  const rest = source.replace(EXPORT, '').trim();
  if (rest !== '' && rest !== 'export {};') {
    throw new Error(`${file} does more than to export by name: ${rest.slice(0, 80)}`);
  }
  return [...source.matchAll(EXPORT)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .map((name) => ({ name, from })),
  );
}

import { dirname, join } from 'node:path';
import type { Entry } from '../public-exports.js';
import { type Declaration, type Module, namesIn, readModule } from './declarations.js';

/** The line before the declarations of one specifier. */
export const ENTRY = '// ==== ';
/** The line before the declarations that nobody can import, and that a caller yet depends on. */
export const HIDDEN = '// ---- not exported, and part of the types above ----';

const HEAD = `// What a user of the package can name and depend on, without comments. "pnpm test docs -u" writes this
// file after a build. A review reads what changed here; see docs/explanation/stability.md.
`;

/**
 * The API of a package as a text of declarations: all that it exports, and what those speak of without
 * exporting it. The declarations are those that the compiler wrote.
 *
 * @param entries of one package, which is built
 */
export function apiReport(entries: readonly Entry[]): string {
  const exported = new Set(
    entries.flatMap((entry) => entry.exports.flatMap((each) => keysOf(declarationsOf(each)))),
  );
  return HEAD + entries.map((entry) => reportOf(entry, exported)).join('');
}

function reportOf({ specifier, exports }: Entry, exported: ReadonlySet<string>): string {
  const hidden = new Map<string, readonly Declaration[]>();
  const parts: string[] = [];
  for (const each of [...exports].sort((one, other) => compare(one.name, other.name))) {
    const found = declarationsOf(each);
    if (found === undefined) throw new Error(`${specifier}: no declaration of ${each.name}`);
    if (typeof found === 'string') {
      parts.push(`export { ${each.name} } from '${found}';`);
      continue;
    }
    parts.push(...found.declarations.map(({ text }) => `export ${text}`));
    addHidden(found, { exported, hidden });
  }
  const unseen = [...hidden]
    .sort(([one], [other]) => compare(one, other))
    .flatMap(([, declarations]) => declarations.map(({ text }) => text));
  const rest = unseen.length === 0 ? [] : [HIDDEN, ...unseen];
  return `\n${ENTRY}${specifier}\n\n${[...parts, ...rest].join('\n\n')}\n`;
}

interface Found {
  module: Module;
  declarations: readonly Declaration[];
}

/** What declares an export: a module of this package, or another package. */
function declarationsOf({ name, from, declarations }: Entry['exports'][number]) {
  return from.startsWith('.') ? resolve(readModule(declarations), name) : from;
}

/** Follows a name to the module of this package that declares it, or to another package. */
function resolve(module: Module, name: string): Found | string | undefined {
  const declarations = module.declarations.get(name);
  if (declarations !== undefined) return { module, declarations };
  const elsewhere = module.imports.get(name);
  if (elsewhere === undefined) return undefined;
  if (!elsewhere.from.startsWith('.')) return elsewhere.from;
  const file = join(dirname(module.file), elsewhere.from.replace(/\.js$/, '.d.ts'));
  return resolve(readModule(file), elsewhere.name);
}

function keysOf(found: Found | string | undefined): string[] {
  return typeof found === 'object' ? [keyOf(found)] : [];
}

/** Names first, since that is how a reader looks for them. */
function keyOf({ module, declarations }: Found): string {
  return `${declarations[0]?.name} ${module.file}`;
}

interface Reached {
  exported: ReadonlySet<string>;
  hidden: Map<string, readonly Declaration[]>;
}

function addHidden({ module, declarations }: Found, { exported, hidden }: Reached): void {
  for (const name of declarations.flatMap(({ node }) => [...namesIn(node)])) {
    const found = resolve(module, name);
    if (typeof found !== 'object') continue;
    const key = keyOf(found);
    if (exported.has(key) || hidden.has(key)) continue;
    hidden.set(key, found.declarations);
    addHidden(found, { exported, hidden });
  }
}

/** The same order on every machine. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

import { readFileSync } from 'node:fs';
import { parseSync, type Statement } from 'oxc-parser';

/** One declaration of a name, without comments. Overloads are several of one name. */
export interface Declaration {
  name: string;
  isExported: boolean;
  /** As the compiler wrote it, without `export`, `declare` and comments. */
  text: string;
  /** The parsed statement. */
  node: object;
}

/** What a name of a module stands for: one of another module, under the name that it has there. */
interface Elsewhere {
  from: string;
  name: string;
}

/** A declaration file, as far as an API report needs it. */
export interface Module {
  file: string;
  declarations: ReadonlyMap<string, readonly Declaration[]>;
  imports: ReadonlyMap<string, Elsewhere>;
}

const modules = new Map<string, Module>();

/** @param file a `.d.ts`, absolute */
export function readModule(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const module = { file, ...parseModule(readFileSync(file, 'utf8'), file) };
  modules.set(file, module);
  return module;
}

/** @throws for a text that is no TypeScript */
export function parseModule(text: string, file: string): Omit<Module, 'file'> {
  const { program, comments, errors } = parseSync(file, text, { lang: 'dts' });
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const plain = comments.reduce(
    (rest, { start, end }) =>
      rest.slice(0, start) + rest.slice(start, end).replace(/[^\n]/g, ' ') + rest.slice(end),
    text,
  );
  const declarations = new Map<string, Declaration[]>();
  const imports = new Map<string, Elsewhere>();
  for (const statement of program.body) {
    for (const [local, elsewhere] of namesFromElsewhere(statement)) imports.set(local, elsewhere);
    for (const { name, isExported, node } of declared(statement)) {
      const rest = declarations.get(name) ?? [];
      const declaration = {
        name,
        isExported,
        node,
        text: textOf(plain.slice(node.start, node.end)),
      };
      declarations.set(name, [...rest, declaration]);
    }
  }
  return { declarations, imports };
}

function namesFromElsewhere(statement: Statement): [string, Elsewhere][] {
  if (statement.type === 'ImportDeclaration') {
    return statement.specifiers.map(({ local, ...specifier }) => {
      const name = 'imported' in specifier ? nameOf(specifier.imported) : '*';
      return [local.name, { from: statement.source.value, name }];
    });
  }
  if (statement.type === 'ExportNamedDeclaration' && statement.source !== null) {
    const from = statement.source.value;
    return statement.specifiers.map(({ local, exported }) => [
      nameOf(exported),
      { from, name: nameOf(local) },
    ]);
  }
  return [];
}

function nameOf(node: { name: string } | { value: string }): string {
  return 'name' in node ? node.name : node.value;
}

interface Span {
  start: number;
  end: number;
}

function declared(
  statement: Statement,
): { name: string; isExported: boolean; node: object & Span }[] {
  const isExported = statement.type === 'ExportNamedDeclaration';
  const node = isExported ? statement.declaration : statement;
  if (node === null) return [];
  if (node.type === 'VariableDeclaration') {
    return node.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ name: id.name, isExported, node }] : [],
    );
  }
  if (!('id' in node) || node.id === null || !('name' in node.id)) return [];
  return [{ name: node.id.name, isExported, node }];
}

/** A member that nobody outside the class can name. The compiler writes it in one line, without its type. */
const PRIVATE = /^\s+(?:#private|private (?!constructor\b).*);$/;

function textOf(source: string): string {
  return source
    .replace(/^(?:declare\s+)?/, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !PRIVATE.test(line))
    .join('\n');
}

/** The names of types and values that a declaration speaks of, and the modules of `import('…')` in it. */
export function namesIn(node: unknown): Set<string> {
  const names = new Set<string>();
  const add = (reference: unknown) => {
    const name = leftmost(reference);
    if (name !== undefined) names.add(name);
  };
  visit(node, (each) => {
    const { type } = each;
    if (type === 'TSTypeReference') add(each.typeName);
    if (type === 'TSTypeQuery') add(each.exprName);
    if (type === 'TSInterfaceHeritage' || type === 'TSClassImplements') add(each.expression);
    if (type === 'ClassDeclaration') add(each.superClass);
    if (each.computed === true) add(each.key);
  });
  return names;
}

function leftmost(reference: unknown): string | undefined {
  const { type, name, left } = fieldsOf(reference);
  if (type === 'TSQualifiedName') return leftmost(left);
  return type === 'Identifier' && typeof name === 'string' ? name : undefined;
}

function fieldsOf(node: unknown): Record<string, unknown> {
  return { ...Object(node) };
}

function visit(node: unknown, see: (node: Record<string, unknown>) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const each of node) visit(each, see);
    return;
  }
  const fields = fieldsOf(node);
  see(fields);
  for (const child of Object.values(fields)) visit(child, see);
}

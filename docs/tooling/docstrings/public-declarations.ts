import { relative } from 'node:path';
import { REPOSITORY } from '../markdown.js';
import type { Entry } from '../public-exports.js';
import { docstringAbove, type Found, findExport, type Module } from './modules.js';
import { codesThrown, field, list, type Node, nameOf } from './nodes.js';

/** Something that a package exports, or a member of it, as its source declares it. */
export interface PublicDeclaration {
  /** E.g. `ScopedFs.read`. */
  name: string;
  /** A `signature` is a method of an interface, and a `number` a field of one. */
  kind: 'function' | 'class' | 'method' | 'signature' | 'number';
  /** The file and the line, from the root of the repository. */
  place: string;
  /** Without the marks of a comment. Absent where there is none. */
  docstring: string | undefined;
  /** The names of the parameters. `undefined` stands for one that is taken apart. */
  parameters: readonly (string | undefined)[];
  /** Whether a caller gets a value. */
  returns: boolean;
  /** The error codes that its own body throws. */
  throws: readonly string[];
}

/**
 * The functions and classes that packages export, and the methods and numbers of their interfaces.
 * A method that implements one of those interfaces is left out: an editor shows the docstring of the
 * interface.
 *
 * @param entries the entry points of the packages; their sources are read, and no build is needed
 */
export function publicDeclarations(entries: readonly Entry[]): PublicDeclaration[] {
  const places = new Map<string, Found>();
  for (const { name, from, source } of entries.flatMap(({ exports }) => exports)) {
    const found = from.startsWith('.') ? findExport(name, source) : undefined;
    if (found !== undefined) places.set(`${found.module.file} ${found.statement.start}`, found);
  }
  const all = [...places.values()].flatMap((found) => declared(found));
  const contracts = new Set(all.flatMap(({ kind, name }) => (kind === 'signature' ? [name] : [])));
  return all
    .filter(({ implemented }) => !implemented.some((name) => contracts.has(name)))
    .map(({ implemented: _, ...declaration }) => declaration);
}

interface Declared extends PublicDeclaration {
  /** The members of interfaces that a method implements. */
  implemented: readonly string[];
}

function declared({ module, statement, name }: Found): Declared[] {
  const node = field(statement, 'declaration') ?? statement;
  const at = { module, start: statement.start };
  const own = describe(name, node, at);
  if (/^(?:FunctionDeclaration|TSDeclareFunction)$/.test(node.type)) return [own];
  const members = list(field(node, 'body') ?? node, 'body').map((member) => ({
    member,
    in: { module, start: member.start },
    called: `${name}.${nameOf(field(member, 'key')) ?? ''}`,
  }));
  if (node.type === 'TSInterfaceDeclaration') {
    return members.flatMap(({ member, in: place, called }) => {
      const kind = kindOfMember(member);
      return kind === undefined ? [] : [{ ...describe(called, member, place), kind }];
    });
  }
  if (node.type === 'ClassDeclaration') {
    const interfaces = list(node, 'implements').map((each) => nameOf(field(each, 'expression')));
    const methods = members.filter(({ member }) => isPublicMethod(member));
    // Overloads share the docstring of the first.
    const first = [...new Map(methods.toReversed().map((each) => [each.called, each])).values()];
    return [
      { ...own, kind: 'class' },
      ...first.map(({ member, in: place, called }) => ({
        ...describe(called, field(member, 'value') ?? member, place),
        kind: 'method' as const,
        implemented: interfaces.map((each) => called.replace(name, each ?? '')),
      })),
    ];
  }
  const value = list(node, 'declarations').find((each) => nameOf(field(each, 'id')) === name);
  const init = field(value, 'init');
  return init?.type.endsWith('FunctionExpression') ? [describe(name, init, at)] : [];
}

function kindOfMember(member: Node): 'signature' | 'number' | undefined {
  const type = field(field(member, 'typeAnnotation'), 'typeAnnotation')?.type;
  if (member.type === 'TSMethodSignature' || type === 'TSFunctionType') return 'signature';
  return type === 'TSNumberKeyword' ? 'number' : undefined;
}

function isPublicMethod(member: Node): boolean {
  const is = (name: string): unknown => Reflect.get(member, name);
  return (
    (member.type === 'MethodDefinition' || member.type === 'TSAbstractMethodDefinition') &&
    field(member, 'key')?.type === 'Identifier' &&
    !['get', 'set'].includes(String(is('kind'))) &&
    is('accessibility') !== 'private' &&
    // An editor shows the docstring of the method that it overrides.
    is('override') !== true
  );
}

const NOTHING = /^(?:void|never|undefined|Promise<void>|asserts .*|this)$/s;

function describe(name: string, node: Node, at: { module: Module; start: number }): Declared {
  const { module, start } = at;
  const line = module.text.slice(0, start).split('\n').length;
  const type = field(field(node, 'returnType'), 'typeAnnotation');
  const body = field(node, 'body');
  return {
    name,
    kind: 'function',
    place: `${relative(REPOSITORY, module.file)}:${line}`,
    docstring: docstringAbove(module, start),
    parameters: list(node, 'params').map(nameOfParameter),
    returns: type !== undefined && !NOTHING.test(module.text.slice(type.start, type.end)),
    throws: body === undefined ? [] : [...codesThrown(body)],
    implemented: [],
  };
}

/** `undefined` for one that is taken apart. */
function nameOfParameter(parameter: Node): string | undefined {
  const inner = ['parameter', 'left', 'argument'].flatMap((name) => field(parameter, name) ?? []);
  return nameOf(inner[0] ?? parameter);
}

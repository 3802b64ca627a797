import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';
import { field, list, type Node, nameOf } from './nodes.js';

/** A source file, parsed. */
export interface Module {
  file: string;
  text: string;
  comments: readonly Comment[];
  statements: readonly Node[];
}

/** A statement that declares an export, and the module that it stands in. */
export interface Found {
  module: Module;
  statement: Node;
  /** Under which it is declared there. */
  name: string;
}

const modules = new Map<string, Module>();

/** Follows an export to the statement that declares it; `undefined` where another package does. */
export function findExport(name: string, file: string): Found | undefined {
  const module = readModule(file);
  for (const statement of module.statements) {
    if (declares(statement, name)) return { module, statement, name };
    const from: unknown = Object(field(statement, 'source')).value;
    const specifier = list(statement, 'specifiers').find(
      (each) => nameOf(field(each, 'exported')) === name,
    );
    const local = nameOf(specifier && field(specifier, 'local'));
    if (typeof from !== 'string' || !from.startsWith('.') || local === undefined) continue;
    return findExport(local, join(dirname(file), from.replace(/\.js$/, '.ts')));
  }
  return undefined;
}

function declares(statement: Node, name: string): boolean {
  const node = field(statement, 'declaration') ?? statement;
  return [node, ...list(node, 'declarations')].some((each) => nameOf(field(each, 'id')) === name);
}

function readModule(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  const module = { file, text, comments, statements: program.body };
  modules.set(file, module);
  return module;
}

const BETWEEN = /^(?:\s|\/\/[^\n]*)*$/;

/** The text of the docstring above a place, without the marks of a comment. */
export function docstringAbove({ comments, text }: Module, place: number): string | undefined {
  const comment = comments.findLast(
    (each) => each.type === 'Block' && each.value.startsWith('*') && each.end <= place,
  );
  if (comment === undefined || !BETWEEN.test(text.slice(comment.end, place))) return undefined;
  return comment.value.replace(/^[ \t]*\* ?/gm, '').trim();
}

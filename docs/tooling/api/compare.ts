import { type Declaration, parseModule } from './declarations.js';
import { ENTRY, HIDDEN } from './report.js';

/** What a change of the API does to a program that was written before it. */
export interface ApiChange {
  specifier: string;
  name: string;
  kind: 'breaking' | 'addition';
  what: 'removed' | 'added' | 'changed';
}

/**
 * How two reports of one package differ. A change counts as breaking unless its form shows that it only
 * adds: a new name, a new overload, a new member of a class, a new optional member of an interface or of an
 * object type. Some that are counted break nothing, such as a new member of a result.
 *
 * @param before `''` for a package that did not exist
 */
export function compareReports(before: string, after: string): ApiChange[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const specifiers = [...new Set([...old.keys(), ...now.keys()])].sort();
  return specifiers.flatMap((specifier) => {
    const [was, is] = [old.get(specifier) ?? new Map(), now.get(specifier) ?? new Map()];
    return [...new Set<string>([...was.keys(), ...is.keys()])].sort().flatMap((name) => {
      const change = compareName(was.get(name), is.get(name));
      return change === undefined ? [] : [{ specifier, name, ...change }];
    });
  });
}

type Named = Map<string, readonly Declaration[]>;

function entriesOf(report: string): Map<string, Named> {
  const [, ...sections] = report.split(`\n${ENTRY}`);
  return new Map(
    sections.map((section) => {
      const specifier = section.slice(0, section.indexOf('\n'));
      const body = section.slice(specifier.length);
      const [exported = '', hidden = ''] = body.split(HIDDEN);
      return [specifier, new Map([...named(exported, ''), ...named(hidden, ' (not exported)')])];
    }),
  );
}

function named(text: string, mark: string): Named {
  const { declarations, imports } = parseModule(text, 'report.d.ts');
  const again = [...imports].map(([name, { from }]): [string, Declaration[]] => [
    name,
    [{ name, isExported: true, text: `type ${name} = import("${from}").${name};`, node: {} }],
  ]);
  return new Map([...declarations, ...again].map(([name, found]) => [name + mark, found]));
}

function compareName(
  was: readonly Declaration[] = [],
  is: readonly Declaration[] = [],
): Pick<ApiChange, 'kind' | 'what'> | undefined {
  if (textsOf(was) === textsOf(is)) return undefined;
  if (was.length === 0) return { kind: 'addition', what: 'added' };
  if (is.length === 0) return { kind: 'breaking', what: 'removed' };
  return { kind: onlyAdds(was, is) ? 'addition' : 'breaking', what: 'changed' };
}

function textsOf(declarations: readonly Declaration[]): string {
  return declarations.map(({ text }) => text).join('\n');
}

function onlyAdds(was: readonly Declaration[], is: readonly Declaration[]): boolean {
  const left = [...is];
  return (
    was.every((declaration) => {
      const at = left.findIndex((other) => holds(other, declaration));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    }) && left.every(isOverload)
  );
}

function isOverload({ node }: Declaration): boolean {
  return 'type' in node && node.type === 'TSDeclareFunction';
}

/** Whether a declaration is another one, with optional members more. */
function holds(now: Declaration, before: Declaration): boolean {
  if (now.text === before.text) return true;
  const [is, was] = [membersOf(now), membersOf(before)];
  if (is === undefined || was === undefined || is.head !== was.head) return false;
  const left = [...is.members];
  const kept = was.members.every(({ text }) => {
    const at = left.findIndex((member) => member.text === text);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
  return kept && left.every(({ isOptional }) => isOptional);
}

interface Members {
  /** All before the first member. */
  head: string;
  members: { text: string; isOptional: boolean }[];
}

/** The members of a class, an interface or an object type. */
function membersOf({ text }: Declaration): Members | undefined {
  const source = `declare ${text}`;
  const [statement] = [...parseModule(source, 'member.d.ts').declarations.values()].flat();
  const { type, body, typeAnnotation, start } = { start: 0, ...Object(statement?.node) };
  const list =
    type === 'TSTypeAliasDeclaration'
      ? typeAnnotation.type === 'TSTypeLiteral'
        ? { start: typeAnnotation.start, members: typeAnnotation.members }
        : undefined
      : body?.body === undefined
        ? undefined
        : { start: body.start, members: body.body };
  if (list === undefined) return undefined;
  return {
    head: source.slice(start, list.start),
    members: list.members.map((member: { start: number; end: number; optional?: boolean }) => ({
      text: source.slice(member.start, member.end),
      // A new member of a class breaks nobody: only the package itself implements its classes.
      isOptional: type === 'ClassDeclaration' ? true : member.optional === true,
    })),
  };
}

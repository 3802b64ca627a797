import type { PublicDeclaration } from './public-declarations.js';

/** A name that gives the unit of a number, or what it counts. */
const SAYS_UNIT =
  /(?:Ms|Seconds|Bytes|Chars|Days|Tokens|Usd|Port|Depth|Lines|Count|Calls|Steps|Entries|Pages|Results|pid|status|line|column|version|index|exitCode)$/i;

/**
 * What the docstring of a public declaration leaves out: a parameter, the value that a caller gets, an
 * error code that the body throws, the unit of a number.
 *
 * @param declaration of a package
 * @param codes every error code there is
 * @returns one short text for each thing that is missing; empty when nothing is
 */
export function docstringProblems(
  declaration: PublicDeclaration,
  codes: ReadonlySet<string>,
): string[] {
  const { name, kind, docstring } = declaration;
  if (kind === 'number' && SAYS_UNIT.test(name)) return [];
  if (name.endsWith('.constructor') && declaration.parameters.length === 0) return [];
  if (docstring === undefined) return ['has no docstring'];
  return kind === 'function' || kind === 'method'
    ? [
        ...problemsOfParameters(declaration, docstring),
        ...problemsOfOutcome(declaration, docstring, codes),
      ]
    : [];
}

function problemsOfParameters({ parameters }: PublicDeclaration, docstring: string): string[] {
  const described = new Set(
    [...docstring.matchAll(/^@param ([\w$]+)(?![\w$.])/gm)].map(([, name]) => name),
  );
  const named = parameters.filter((name) => name !== undefined);
  // A destructured parameter has no name. Its docstring may use any.
  const others = [...described].filter((name) => !parameters.includes(name)).length;
  const apart = parameters.length - named.length;
  return [
    ...named.filter((name) => !described.has(name)).map((name) => `has no @param ${name}`),
    ...(others < apart ? ['has no @param for what it takes apart'] : []),
    ...(others > apart ? ['has a @param that it does not take'] : []),
  ];
}

/** A summary that begins like this describes the returned value. */
const WHETHER = /^Whether /;

function problemsOfOutcome(
  { returns, throws }: PublicDeclaration,
  docstring: string,
  codes: ReadonlySet<string>,
): string[] {
  const said = docstring.split(/^(?=@)/m).filter((tag) => tag.startsWith('@throws '));
  const named: readonly string[] = said.join(' ').match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
  const isSaid = WHETHER.test(docstring) || /^@returns \S/m.test(docstring);
  return [
    ...(returns && !isSaid ? ['has no @returns'] : []),
    ...throws.filter((code) => !named.includes(code)).map((code) => `has no @throws of ${code}`),
    ...named.filter((code) => !codes.has(code)).map((code) => `names ${code}, no error code`),
  ];
}

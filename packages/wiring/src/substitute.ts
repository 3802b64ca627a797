import { isAbsolute, resolve } from 'node:path';

/** The values of the variables in a personality's file: absolute paths of folders. */
export interface PathVariables {
  ETHOS_HOME: string | undefined;
  self: string | undefined;
  CWD: string | undefined;
}

const NAMES = ['ETHOS_HOME', 'self', 'CWD'] as const satisfies (keyof PathVariables)[];
const VARIABLES = NAMES.map((name) => `\${${name}}`).join(', ');
const VARIABLE_PLACE = 'a variable may only stand whole and at the start';

/** A path, or why the entry is invalid. */
export type ReachPathResult = { ok: true; path: string } | { ok: false; message: string };

/**
 * Turns an entry of `fs_reach` into a normalised absolute path.
 *
 * A variable stands for an absolute folder. It must be the whole entry, or its start before a `/`.
 * Its value is not searched for variables.
 *
 * @param entry the text from the file, e.g. `${CWD}/src`
 */
export function resolveReachPath(entry: string, variables: PathVariables): ReachPathResult {
  if (entry.trim() === '') return refused('must not be empty');
  let path = entry;
  const variable = /^\$\{([^{}]*)\}(.*)$/su.exec(entry);
  if (variable) {
    const [, name = '', rest = ''] = variable;
    const known = NAMES.find((candidate) => candidate === name);
    if (!known) return refused(`unknown variable; use ${VARIABLES}`);
    const value = variables[known];
    if (!value || !isAbsolute(value)) {
      return refused(`the variable \${${name}} stands for no absolute path here`);
    }
    if (rest !== '' && !rest.startsWith('/')) {
      return refused(`put a / after the variable \${${name}}`);
    }
    if (rest.includes('${')) return refused(VARIABLE_PLACE);
    path = value + rest;
  } else if (entry.includes('${')) {
    return refused(VARIABLE_PLACE);
  }
  if (!isAbsolute(path)) return refused(`must be absolute: start with / or ${VARIABLES}`);
  if (path.split(/[\\/]/u).includes('..')) return refused('must not have ".." segments');
  if (path.includes('\0') || /\p{Surrogate}/u.test(path)) {
    return refused('must not have a NUL or a lone surrogate');
  }
  return { ok: true, path: resolve(path) };
}

function refused(message: string): ReachPathResult {
  return { ok: false, message };
}

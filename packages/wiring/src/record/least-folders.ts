import { dirname, resolve, sep } from 'node:path';
import { compilePathSet, isDeclarablePath, isWithin } from '@ethosagent/policy';
import { type PathVariables, resolveReachPath } from '../substitute.js';
import type { LeastEntry } from './least-privilege.js';

/** From this number of sibling folders on, their parent is used. */
const SIBLINGS = 3;
/** The operations whose target is a folder. */
const OF_FOLDERS = new Set(['list', 'listEntries', 'mkdir']);
/** These operations change the folder that contains the target. A root itself can't be removed. */
const OF_PARENTS = new Set(['remove', 'rename']);

/** One allowed access to a file or folder, by its absolute path. */
export interface FileAccess {
  operation: string;
  path: string;
}

/** The limits for derived folders. */
export interface FolderOptions {
  cwd: string;
  home: string;
  userHome: string;
  /** The present roots, absolute. Nothing outside of them is derived. */
  roots: readonly string[];
  variables: PathVariables;
  isFolder(path: string): boolean;
  /**
   * Paths that were removed or renamed by any access. A root may not be one of them or below one.
   */
  moved: readonly string[];
}

/**
 * The folders that contain what was used: the folder of a file, or only the file if its folder may
 * not be named. Three or more sibling folders become their parent.
 *
 * The result never contains `/`, the user's home, the working directory, the home of the runtime,
 * or a folder above one of these. The only exception is a working directory that was itself listed.
 * The result is always within the present roots.
 */
export function leastFolders(
  accesses: readonly FileAccess[],
  options: FolderOptions,
): { entries: LeastEntry[]; unnamed: FileAccess[] } {
  const today = compilePathSet(options.roots);
  const mayName = (folder: string) =>
    today.covers(folder) !== undefined && isNameable(folder, options);
  const own = accesses.flatMap((access) => ownFolder(access, { ...options, mayName }) ?? []);
  let roots = compilePathSet(own).roots;
  const generalised = new Set<string>();
  for (;;) {
    const parent = crowded(roots, mayName);
    if (parent === undefined) break;
    generalised.add(parent);
    roots = compilePathSet([...roots, parent]).roots;
  }
  const named = new Map(roots.map((root) => [root, pathText(root, options.variables)]));
  const set = compilePathSet(roots);
  const counts = new Map<string, number>();
  const unnamed: FileAccess[] = [];
  for (const access of accesses) {
    const root = set.covers(access.path);
    if (root === undefined || named.get(root) === undefined) unnamed.push(access);
    else counts.set(root, (counts.get(root) ?? 0) + 1);
  }
  const entries = roots.flatMap((root): LeastEntry[] => {
    const text = named.get(root);
    const count = counts.get(root);
    if (text === undefined || count === undefined) return [];
    const rule = generalised.has(root)
      ? `${SIBLINGS} or more folders in it were used`
      : options.isFolder(root)
        ? undefined
        : 'this path alone';
    return [{ text, value: root, accesses: count, ...(rule !== undefined && { rule }) }];
  });
  return { entries, unnamed };
}

function ownFolder(
  { operation, path }: FileAccess,
  {
    isFolder,
    moved,
    cwd,
    mayName,
  }: Pick<FolderOptions, 'isFolder' | 'moved' | 'cwd'> & { mayName(folder: string): boolean },
): string | undefined {
  const isItself = !OF_PARENTS.has(operation) && (OF_FOLDERS.has(operation) || isFolder(path));
  const folder = isItself ? path : dirname(path);
  // A folder that is removed later can't be a root.
  const top = moved.filter((each) => isWithin(folder, each)).sort((a, b) => a.length - b.length)[0];
  const wanted = top === undefined ? folder : dirname(top);
  if (mayName(wanted)) return wanted;
  if (!isItself) return path;
  // A root includes everything below it. So a wide folder is not granted only because it was
  // listed.
  return path === resolve(cwd) ? path : undefined;
}

/** A folder with so many children among the roots, the deepest one first. */
function crowded(
  roots: readonly string[],
  mayName: (folder: string) => boolean,
): string | undefined {
  const children = new Map<string, number>();
  for (const root of roots) {
    const parent = dirname(root);
    if (parent !== root) children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  return [...children]
    .filter(([parent, count]) => count >= SIBLINGS && mayName(parent))
    .map(([parent]) => parent)
    .sort((a, b) => b.length - a.length)[0];
}

function isNameable(folder: string, { cwd, home, userHome }: FolderOptions): boolean {
  const holds = [cwd, home, userHome].some((path) => isWithin(path, folder));
  return folder !== dirname(folder) && !holds;
}

/**
 * Writes a path in the form of a personality's file; `undefined` if the file can't express the
 * path.
 */
export function pathText(path: string, variables: PathVariables): string | undefined {
  const prefixes = (['self', 'ETHOS_HOME', 'CWD'] as const).flatMap((name) => {
    const value = variables[name];
    return value !== undefined && value !== sep && isWithin(path, value)
      ? [{ name, value: resolve(value) }]
      : [];
  });
  const [longest] = prefixes.sort((a, b) => b.value.length - a.value.length);
  const candidates = [
    ...(longest === undefined ? [] : [`\${${longest.name}}${path.slice(longest.value.length)}`]),
    path,
  ];
  if (!isDeclarablePath(path)) return undefined;
  return candidates.find((text) => {
    const read = resolveReachPath(text, variables);
    return read.ok && read.path === path;
  });
}

/** The absolute paths of an access; `undefined` if its target does not contain them. */
export function pathsOf(
  { operation, target }: { operation: string; target: string },
  cwd: string,
): string[] | undefined {
  const parts = operation === 'rename' ? target.split(' -> ') : [target];
  if (operation === 'rename' && parts.length !== 2) return undefined;
  return parts.map((part) => resolve(cwd, part));
}

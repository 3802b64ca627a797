import { join } from 'node:path';
import { type ConfigDocument, type ProjectFiles, partOf } from './project-files.js';
import { findProgram, type ScriptCommand, scriptCommand } from './script-command.js';
import type { Word } from './script-words.js';

/** The signs that a folder uses a tool. */
export interface ProjectMarkers {
  /**
   * Names of its configuration files. `*` stands for any characters that don't begin with a dot.
   */
  files?: readonly string[];
  /** The package that a `package.json` names among its dependencies. */
  dependency?: string;
  /** A key of `package.json` that configures it. */
  packageKey?: string;
  /**
   * Scripts of `package.json` that may run it. `find` returns which word of a command is the tool.
   */
  script?: { names: readonly string[]; find: (words: readonly Word[]) => number | undefined };
  /** Scripts that count even when it is unknown what they run. */
  anyScript?: readonly string[];
  /** A file whose text may name it, and the word to look for. */
  mentioned?: { file: string; word: RegExp };
  /**
   * A table below `tool` in `pyproject.toml`. A dependency of that name in the file counts, too.
   */
  pyproject?: string;
  /** Files of a project that may use it when there is no other sign. */
  fallback?: readonly string[];
}

/** How strong a sign is, and what it is. */
export interface Marker {
  strength: number;
  what: string;
}

/** Finds the strongest sign that a folder uses a tool; `undefined` when there is none. */
export async function findMarker(
  files: ProjectFiles,
  folder: string,
  signs: ProjectMarkers,
): Promise<Marker | undefined> {
  const names = (await files.names(folder)) ?? new Set<string>();
  const manifest = names.has('package.json')
    ? await files.json(join(folder, 'package.json'))
    : undefined;
  const script = scriptOf(manifest, signs);
  if (script !== undefined) return { strength: 4, what: `script ${script.script} in package.json` };
  const config = signs.files?.flatMap((pattern) => matching(names, pattern))[0];
  if (config !== undefined) return { strength: 3, what: config };
  const { packageKey, dependency, pyproject } = signs;
  if (packageKey !== undefined && manifest?.[packageKey] !== undefined) {
    return { strength: 3, what: `${packageKey} in package.json` };
  }
  if (pyproject !== undefined) {
    const found = await pythonSign(files, { folder, names, tool: pyproject });
    if (found !== undefined) return found;
  }
  const any = anyScriptOf(manifest, signs);
  if (any !== undefined) return { strength: 2.5, what: `script ${any} in package.json` };
  if (dependency !== undefined && dependsOn(manifest, dependency)) {
    return { strength: 2, what: `${dependency} in package.json` };
  }
  const { mentioned } = signs;
  if (mentioned !== undefined && names.has(mentioned.file)) {
    const text = (await files.text(join(folder, mentioned.file))) ?? '';
    if (mentioned.word.test(text)) return { strength: 2, what: mentioned.file };
  }
  const fallback = signs.fallback?.find((name) => names.has(name));
  return fallback === undefined ? undefined : { strength: 1, what: fallback };
}

/** Returns the scripts of a `package.json`. */
export function scriptsOf(manifest: ConfigDocument | undefined): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(partOf(manifest, 'scripts') ?? {}).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text] as const] : [],
    ),
  );
}

/** Finds the command of a script by which a package runs a tool; `undefined` when it is unknown. */
export function scriptOf(
  manifest: ConfigDocument | undefined,
  { script }: ProjectMarkers,
): ScriptCommand | undefined {
  if (script === undefined) return undefined;
  const scripts = scriptsOf(manifest);
  for (const name of script.names) {
    const found = scripts.has(name) ? scriptCommand(scripts, name, script.find) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds a tool by the names of its program. */
export function byProgram(...names: readonly string[]) {
  return (words: readonly Word[]) => findProgram(names, words);
}

// What `npm init` writes.
const NO_SCRIPT = /no test specified/;

/** Returns the first of these scripts that a package has. */
export function anyScriptOf(
  manifest: ConfigDocument | undefined,
  { anyScript = [] }: ProjectMarkers,
): string | undefined {
  const scripts = scriptsOf(manifest);
  return anyScript.find((name) => {
    const text = scripts.get(name) ?? '';
    return text.trim() !== '' && !NO_SCRIPT.test(text);
  });
}

function dependsOn(manifest: ConfigDocument | undefined, name: string): boolean {
  return ['dependencies', 'devDependencies'].some(
    (kind) => partOf(manifest, kind)?.[name] !== undefined,
  );
}

async function pythonSign(
  files: ProjectFiles,
  { folder, names, tool }: { folder: string; names: ReadonlySet<string>; tool: string },
): Promise<Marker | undefined> {
  const project = names.has('pyproject.toml')
    ? await files.toml(join(folder, 'pyproject.toml'))
    : undefined;
  if (partOf(project, 'tool', tool) !== undefined) {
    return { strength: 3, what: `[tool.${tool}] in pyproject.toml` };
  }
  if (names.has('setup.cfg')) {
    const text = (await files.text(join(folder, 'setup.cfg'))) ?? '';
    if (text.includes(`[${tool}]`) || text.includes(`[tool:${tool}]`)) {
      return { strength: 3, what: 'setup.cfg' };
    }
  }
  if (mentions(project, tool)) return { strength: 2, what: `${tool} in pyproject.toml` };
  for (const name of names) {
    if (!/^requirements.*\.txt$/.test(name)) continue;
    const lines = ((await files.text(join(folder, name))) ?? '').split('\n');
    if (lines.some((line) => isRequirement(line, tool))) return { strength: 2, what: name };
  }
  return undefined;
}

/** Whether a list or a table of dependencies, anywhere in a document, names a package. */
function mentions(value: unknown, name: string): boolean {
  if (typeof value === 'string') return isRequirement(value, name);
  if (Array.isArray(value)) return value.some((each) => mentions(each, name));
  const table = partOf(value);
  return (
    table !== undefined &&
    Object.entries(table).some(([key, each]) => key === name || mentions(each, name))
  );
}

function isRequirement(text: string, name: string): boolean {
  const trimmed = text.trim().toLowerCase();
  return trimmed.startsWith(name) && !/^[\w.-]/.test(trimmed.slice(name.length));
}

function matching(names: ReadonlySet<string>, pattern: string): string[] {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return names.has(pattern) ? [pattern] : [];
  return [...names].filter(
    (name) =>
      name.length >= before.length + after.length &&
      name.startsWith(before) &&
      name.endsWith(after),
  );
}

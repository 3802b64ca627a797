import { basename, delimiter, join } from 'node:path';
import { ancestors } from './file-path.js';
import { type ConfigDocument, type ProjectFiles, partOf } from './project-files.js';
import type { RunCommand } from './runner.js';
import type { ScriptCommand } from './script-command.js';
import type { Word } from './script-words.js';

/** What a tool adds to the command of a script that runs it. */
export interface ScriptAdditions {
  /** Arguments directly after the program. */
  first?: readonly string[];
  /** Arguments at the end. */
  last?: readonly string[];
  /** Returns whether a word of the command is left out. */
  drop?: (word: string, before: string) => boolean;
  /**
   * Returns the text to run instead of the command, for a report that needs more than arguments.
   */
  around?: (command: string) => string;
}

/** The package and the script that a command belongs to. */
export interface ScriptPlace {
  root: string;
  script: string;
}

/** Returns the command of a script as a package manager runs it, with more arguments. */
export async function runScriptCommand(
  files: ProjectFiles,
  { root, found }: { root: string; found: ScriptCommand },
  additions: ScriptAdditions,
): Promise<RunCommand> {
  const values: string[] = [];
  // The attack: an argument such as `; rm -rf .`. As parameters of the shell, the arguments are never parsed.
  const given = (all: readonly string[] = []) =>
    all.map((value) => ` "\${${values.push(value) + 1}}"`).join('');
  const [first, last] = [given(additions.first), given(additions.last)];
  const { text, words, program, before } = found;
  const pieces = words.flatMap((word, at) => {
    const previous = words[at - 1]?.text ?? '';
    if (at > program && additions.drop?.(word.text, previous) === true) return [];
    return [written(text, word) + (at === program ? first : '')];
  });
  const command = pieces.join(' ') + last;
  const whole = [...before, additions.around?.(command) ?? command].join(' && ');
  return runInShell(files, { root, script: found.script }, { text: whole, values });
}

/** Returns a command that is in no script, in the same way. */
export function runPlainCommand(
  files: ProjectFiles,
  { root, command }: { root: string; command: string },
  { last = [], around = (text) => text }: Pick<ScriptAdditions, 'last' | 'around'>,
): Promise<RunCommand> {
  const params = last.map((_value, at) => ` "\${${at + 2}}"`).join('');
  const text = around(`${command}${params}`);
  return runInShell(files, { root, script: 'test' }, { text, values: last });
}

/** Returns the command that runs a text as a script of a package. */
export async function runInShell(
  files: ProjectFiles,
  { root, script }: ScriptPlace,
  { text, values = [] }: { text: string; values?: readonly string[] },
): Promise<RunCommand> {
  const manifest = await files.json(join(root, 'package.json'));
  const folders: string[] = [];
  for (const folder of ancestors(root)) {
    const programs = join(folder, 'node_modules', '.bin');
    if ((await files.names(programs)) !== undefined) folders.push(programs);
  }
  const path = folders.map((folder) => folder + delimiter).join('');
  const line = `export PATH="\${1}$PATH"; export NODE="$(command -v node)"; ${text}`;
  return {
    binary: 'sh',
    args: ['-c', line, 'sh', path, ...values],
    cwd: root,
    env: environmentOf(manifest, { root, script }),
  };
}

/** Returns the variables that npm gives a script, except for those of npm's own settings. */
function environmentOf(
  manifest: ConfigDocument | undefined,
  { root, script }: ScriptPlace,
): Record<string, string> {
  const { name, version } = manifest ?? {};
  const config = Object.entries(partOf(manifest, 'config') ?? {}).flatMap(([key, value]) =>
    typeof value === 'object' || /[^\w]/.test(key)
      ? []
      : [[`npm_package_config_${key}`, String(value)] as const],
  );
  const variables: Record<string, string> = {
    INIT_CWD: root,
    npm_command: script === 'test' ? 'test' : 'run-script',
    npm_lifecycle_event: script,
    npm_package_json: join(root, 'package.json'),
    npm_package_name: typeof name === 'string' ? name : basename(root),
    ...(typeof version === 'string' && { npm_package_version: version }),
    ...Object.fromEntries(config),
  };
  // No variable can hold a NUL.
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !value.includes('\0')));
}

function written(text: string, { start, end }: Word): string {
  return text.slice(start, end);
}

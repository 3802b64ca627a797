import { join } from 'node:path';
import type { ProjectFiles } from './project-files.js';
import { scriptOf } from './project-markers.js';
import type { RunCommand, Runner } from './runner.js';
import type { ScriptCommand } from './script-command.js';
import { runScriptCommand, type ScriptAdditions } from './script-run.js';

const WATCHES = /^--watch(All)?(=true)?$/;

/** Returns a test for the words of a command that name files: neither options nor their values. */
export function isPlace(valued: ReadonlySet<string>) {
  return (word: string, before: string) => !word.startsWith('-') && !valued.has(before);
}

/**
 * Returns the command of the project's own script that runs a tool, with the additions of the tool;
 * `undefined` when no script runs it.
 */
export async function ownCommand(
  files: ProjectFiles,
  root: string,
  { signs, additions }: Pick<Runner<unknown>, 'signs'> & { additions: ScriptAdditions },
): Promise<RunCommand | undefined> {
  const found = scriptOf(await files.json(join(root, 'package.json')), signs);
  return found && scriptToolCommand(files, { root, found }, additions);
}

/**
 * Does the same for a script that was already found. It refuses a watch command, which would never
 * end.
 */
export async function scriptToolCommand(
  files: ProjectFiles,
  { root, found }: { root: string; found: ScriptCommand },
  additions: ScriptAdditions,
): Promise<RunCommand> {
  const { drop } = additions;
  const command = await runScriptCommand(
    files,
    { root, found },
    {
      ...additions,
      drop: (word, before) => WATCHES.test(word) || drop?.(word, before) === true,
    },
  );
  return found.left.length === 0 ? command : { ...command, left: found.left };
}

import { HOME, SPLIT } from './marked-text.js';
import { operandsOf } from './options.js';
import { type PossibleFolders, withChange } from './possible-folders.js';
import type { SimpleCommand } from './simple-command.js';

/**
 * Returns the folders in which these commands may run, when some of them change the folder. It does
 * not ask whether or when a command runs: each change may have happened before each command.
 */
export function placeOf(
  commands: readonly SimpleCommand[],
  place: PossibleFolders,
): PossibleFolders {
  let changed = place;
  for (const { name, args } of commands) {
    const target = targetOf(name, args);
    if (target !== undefined) changed = withChange(changed, target);
  }
  return changed;
}

function targetOf(name: string | undefined, args: readonly string[]): string | undefined {
  if (name === 'cd' || name === 'pushd') {
    const [target] = operandsOf(args);
    if (target === undefined) return name === 'cd' ? HOME : SPLIT;
    return target === '-' || /^[+-]\d/.test(target) ? SPLIT : target;
  }
  if (name === 'popd') return SPLIT;
  if (name === 'env' || name === 'sudo' || name === 'git' || name === 'make') {
    const at = args.findIndex((word) => /^(-C|-D|--chdir|--directory)/.test(word));
    if (at === -1) return undefined;
    const joined = (args[at] ?? '').replace(/^(-C|-D|--(chdir|directory)=?)/, '');
    return joined === '' ? args[at + 1] : joined;
  }
  return undefined;
}

import { posix } from 'node:path';
import type { PossibleFolders } from './possible-folders.js';
import { resolveFrom } from './possible-folders.js';

const ASSIGNMENT =
  /^\s*([A-Za-z_]\w*)=((?:~(?=\/)|\$HOME(?=\/)|\$\{HOME\}(?=\/)|[\w.@:+-])[\w.@:+-]*\/[\w./@:+-]*|\/[\w./@:+-]*|[\w.@+-][\w.@:+-]*)[ \t]*(?:;|\n|&&)/;
/** Matches variables that bash sets itself, or that change how it reads words. */
const OWN =
  /^(IFS|S?RANDOM|SECONDS|LINENO|EPOCH\w*|BASH\w*|HOME|PATH|PWD|OLDPWD|CDPATH|UID|EUID|PPID|_|GROUPS|DIRSTACK|FUNCNAME|OPT\w*)$/;
/** Matches text that may set or read a variable in a way that is not analysed here. */
const UNSURE =
  /['`\\#]|<<|IFS|(^|[\s;&|({])(eval|source|\.|unset|read|readarray|mapfile|export|declare|typeset|local|readonly|printf|getopts|for|select|let|trap|function|alias|set)[\s;]/;

/**
 * Replaces the variables that the beginning of a text sets to a path or a plain word, as in
 * `dir=/tmp/x; rm -rf $dir`, by their values. In any doubt, it returns the text unchanged.
 */
export function withKnownValues(text: string): string {
  let known = '';
  let rest = text;
  for (let found = ASSIGNMENT.exec(rest); found !== null; found = ASSIGNMENT.exec(rest)) {
    const [whole, name = '', value = ''] = found;
    const after = rest.slice(whole.length);
    const uses = new RegExp(`\\$(?:${name}\\b|\\{${name}\\})`, 'g');
    if (OWN.test(name) || UNSURE.test(rest) || after.replaceAll(uses, '').includes(name)) break;
    known += whole;
    // In quotes, a tilde would be literal, so it becomes $HOME.
    const home = value.replace(/^~/, () => `$${'{HOME}'}`);
    rest = after.replaceAll(uses, () => home);
  }
  return known + rest;
}

/**
 * Returns the place of a line that is one chain of `&&` after `cd folder`. All of it runs in that
 * folder.
 */
export function afterChange(text: string, place: PossibleFolders): PossibleFolders {
  const [, target, rest = ''] = /^\s*cd[ \t]+([\w.][\w./-]*)[ \t]*&&(.*)$/s.exec(text) ?? [];
  if (target === undefined || /[;|\n]|(^|[^&>])&([^&>]|$)|CDPATH/.test(rest)) return place;
  const dirs = place.dirs.map((dir) => resolveFrom(dir, posix.normalize(target)) ?? dir);
  return { ...place, dirs };
}

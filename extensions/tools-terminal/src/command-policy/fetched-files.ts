import { posix } from 'node:path';
import { isShell, languageOf } from './interpreters.js';
import { isUnknown } from './marked-text.js';
import type { SimpleCommand } from './simple-command.js';

/** The commands of a line that run a file which another one of the line fetches. */
export function runsFetchedFile(commands: readonly SimpleCommand[]): SimpleCommand[] {
  const fetched = new Set(commands.flatMap(fetchedBy).map((path) => posix.normalize(path)));
  if (fetched.size === 0) return [];
  return commands.filter((command) =>
    runBy(command).some((path) => fetched.has(posix.normalize(path))),
  );
}

function fetchedBy({ name = '', args, redirects }: SimpleCommand): string[] {
  if (!/^(curl|wget2?|aria2c|http|https|xh|fetch)$/.test(name)) return [];
  const paths = redirects.filter(({ writes }) => writes).map(({ target }) => target);
  for (const [at, word] of args.entries()) {
    const next = args[at + 1];
    if (/^(-[a-zA-Z]*[oO]|--output|--output-document|--out)$/.test(word) && next !== undefined) {
      paths.push(next);
    }
    const joined = /^(?:-[oO]|--output(?:-document)?=|--out=)(.+)$/.exec(word)?.[1];
    if (joined !== undefined) paths.push(joined);
    // A name that is not given is the last part of the address.
    if (!word.startsWith('-')) paths.push(posix.basename(word.replace(/[?#].*$/, '')));
  }
  return paths.filter((path) => path !== '' && !isUnknown(path));
}

function runBy({ name = '', written, args }: SimpleCommand): string[] {
  if (/^(source|\.|chmod)$/.test(name) || isShell(name) || languageOf(name) !== undefined) {
    return args.filter((word) => !word.startsWith('-'));
  }
  return written.includes('/') ? [written] : [];
}

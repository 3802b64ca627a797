import { posix } from 'node:path';
import { isShell, languageOf } from './interpreters.js';
import { isUnknown } from './marked-text.js';
import { writtenBy } from './rules/devices.js';
import type { SimpleCommand } from './simple-command.js';

/** Returns the commands of a line that run a file which another command of the line downloads. */
export function runsFetchedFile(commands: readonly SimpleCommand[]): SimpleCommand[] {
  if (!commands.some(({ name }) => FETCHES.test(name ?? ''))) return [];
  const fetched = new Set(commands.flatMap(fetchedBy).map((path) => posix.normalize(path)));
  return commands.filter((command) =>
    runBy(command).some(
      // The folder may be given in an option of its own; it then comes before the name.
      (path) => fetched.has(posix.normalize(path)) || fetched.has(posix.basename(path)),
    ),
  );
}

const FETCHES = /^(curl|wget2?|aria2c|http|https|xh|fetch|nc|ncat|scp|ftp)$/;

/**
 * Returns the files that a command writes. If a command of a line downloads, each of them may be a
 * download.
 */
function fetchedBy({ name = '', args, redirects }: SimpleCommand): string[] {
  const paths = redirects.filter(({ writes }) => writes).map(({ target }) => target);
  if (!FETCHES.test(name)) {
    return [...paths, ...writtenBy(name, args)].filter((path) => path !== '' && !isUnknown(path));
  }
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

function runBy({ name = '', written, args, redirects }: SimpleCommand): string[] {
  const read = redirects.filter(({ writes }) => !writes).map(({ target }) => target);
  if (/^(source|\.|chmod)$/.test(name) || isShell(name) || languageOf(name) !== undefined) {
    return [...args.filter((word) => !word.startsWith('-')), ...read];
  }
  return written.includes('/') ? [written] : [];
}

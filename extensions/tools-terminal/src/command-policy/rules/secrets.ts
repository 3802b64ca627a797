import { compileDenySet, denyFloor } from '@ethosagent/policy';
import { matchesWord } from '../command-pattern.js';
import { findRoots } from '../find-executions.js';
import { GLOB, HOME, isUnknown } from '../marked-text.js';
import { hasLong } from '../options.js';
import { type PossibleFolders, resolveIn } from '../possible-folders.js';
import type { CommandInput } from '../simple-command.js';
import { ask, type BuiltInRule } from './rule.js';
import { printsSecrets } from './secret-programs.js';

/** Stands for a home in the deny floor. */
const A_HOME = '/home-of-somebody';
const FLOOR = denyFloor({ home: A_HOME }).filter((path) => !/^\/(proc|sys|dev)$/.test(path));
const DENIED = compileDenySet(FLOOR);
const OF_SYSTEM = FLOOR.filter((path) => !path.startsWith(`${A_HOME}/`)).map((path) =>
  path.split('/'),
);
const OF_HOMES = FLOOR.flatMap((path) =>
  path.startsWith(`${A_HOME}/`) ? [path.slice(A_HOME.length + 1).split('/')] : [],
);
const LITERAL_HOME = /^(?:\uE002|\/root|\/(?:home|Users|var\/home)\/[^/]+)(?=\/|$)/;

// Facts about the kernel, not about a process.
const KERNEL =
  /^\/proc\/(?!(?:self|thread-self|\d+|[^/]*[\uE000-\uE004*?][^/]*)(?:\/|$)|kcore|kmem|kpage|keys|key-users|kallsyms|vmcore)/;
const OF_PROCESS =
  /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:status|stat|statm|limits|cgroup|mounts|mountinfo|mountstats|io|sched|schedstat|comm|oom_[a-z_]+|ns|net|cpuset|loginuid|fd\/[012]|uid_map|gid_map)(?:\/|$)/;
const MEMORY = /^\/dev\/(?:mem|kmem|port|core)$/;

/** Matches programs that show the names of files, not their content. */
const NAMES_ONLY = /^(test|\[|cd|pushd|dirname|basename|mkdir|which|type|true|false|:)$/;
/** Matches programs whose output the next program may read as names of files. */
const SAYS_NAMES = /^(echo|printf)$/;
/** Matches programs that take the names of files from their input. */
const TAKES_NAMES = /^(g?xargs|parallel|read|mapfile|readarray|cpio)$/;
/** Matches programs that read everything below a folder. */
const RECURSIVE =
  /^([gb]?s?d?tar|zip|7z[ar]?|rsync|scp|rg|ag|ack|ugrep|cpio|pax|restic|borg|rclone|git|docker)$/;
const RECURSIVE_BY_OPTION = /^(g?cp|[efrz]?grep)$/;
const ABOVE_HOME = /^(?:\/|\/root|\/home|\/Users|\/etc|\uE002)$/;
const HIDDEN_FOLDER = /^\/(?:home|Users)\/[^/]+$/;

/** The rule about files with secrets, which are on the deny floor of all tools. */
export const secretFiles: BuiltInRule = {
  name: 'secret-file',
  about:
    'Naming files of credentials and keys, or all of a home, to a program that may read them, and printing secrets that a program keeps.',
  judge({ name = '', args, redirects, assignments, input }, place) {
    const read = redirects.filter(({ reads }) => reads).map(({ target }) => target);
    if (printsSecrets(name, args)) return ask('prints secrets that a program keeps');
    const words = NAMES_ONLY.test(name) ? [] : args;
    // A printed sentence is not a path.
    const isSaid = SAYS_NAMES.test(name);
    const paths = words.filter((word) => mayBePath(place, word));
    if (isSaid && paths.some((word) => /^[\uE002/]/.test(word) && isSecret(place, word))) {
      return ask('names a file of secrets, which no tool may read');
    }
    const given = [
      ...(isSaid ? [] : paths),
      ...assignments.map(({ value }) => value),
      ...namesFrom(name, input),
    ];
    if ([...given.flatMap(pathsIn), ...read].some((path) => isSecret(place, path))) {
      return ask('names a file of secrets, which no tool may read');
    }
    if (name === 'find' && looksForSecrets(place, args)) return ask('looks for files of secrets');
    return foldersReadBy(name, args, input).some((folder) => isAbove(place, folder))
      ? ask('reads all of a home, with its files of secrets')
      : undefined;
  },
};

const NAME_OF_SECRET =
  /^[*?]*(id_(\*|rsa|dsa|ecdsa|ed25519)|credentials|\.?netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.my\.cnf|g?shadow|\.ssh|\.aws|\.gnupg)[*?]*$/;

function looksForSecrets(place: PossibleFolders, args: readonly string[]): boolean {
  const isNamed = args.some(
    (word, at) =>
      /^-(i?name|i?path|i?wholename)$/.test(args[at - 1] ?? '') &&
      NAME_OF_SECRET.test(word.replaceAll(GLOB, '*').replace(/^.*\//, '')),
  );
  return isNamed && findRoots(args).some((root) => isAbove(place, root));
}

/** Returns the names of files that a program gets from its input. */
function namesFrom(name: string, input: CommandInput): string[] {
  if (!TAKES_NAMES.test(name)) return [];
  const text = input.from === 'text' ? input.text : input.from === 'pipe' ? input.said : undefined;
  return text?.split(/\s+/) ?? [];
}

/** Returns the folders that a command reads as a whole. */
function foldersReadBy(
  name: string,
  args: readonly string[],
  input: CommandInput,
): readonly string[] {
  const isRecursive =
    RECURSIVE.test(name) ||
    (RECURSIVE_BY_OPTION.test(name) &&
      (/[raR]/.test(args.filter((word) => /^-[a-zA-Z]+$/.test(word)).join('')) ||
        hasLong(args, 'recursive') ||
        hasLong(args, 'archive')));
  if (isRecursive) return args;
  if (/^g?find$/.test(name) && args.some((word) => /^-(exec|ok)/.test(word)))
    return findRoots(args);
  if (/^fd(find)?$/.test(name) && args.some((word) => /^(-[a-zA-Z]*[xX]|--exec)/.test(word))) {
    return args;
  }
  // The names from `find` or `ls`.
  return TAKES_NAMES.test(name) && input.from === 'pipe'
    ? (input.found ?? []).map((found) => found.replace(/\/[^/]*$/, ''))
    : [];
}

const AMONG_SECRETS = new WeakMap<PossibleFolders, boolean>();

/** Whether a word may name a file with secrets at all. Most words are not paths; this check is fast. */
function mayBePath(place: PossibleFolders, word: string): boolean {
  if (/[/._~\uE000-\uE004]/.test(word)) return true;
  const known = AMONG_SECRETS.get(place);
  if (known !== undefined) return known;
  const isAmong = place.dirs.some((dir) => isSecret(place, `${dir}/x`));
  AMONG_SECRETS.set(place, isAmong);
  return isAmong;
}

/**
 * Returns the paths that a word may name: itself, the value of an option, the text after `@` or
 * `file://`.
 */
function pathsIn(word: string): string[] {
  const inside = word.match(/(?:\uE002|\/)[^\s"'`,;:()<>|&=@]*/g) ?? [];
  const value = /^(?:-[-\w]*=|@|\w+=@?|-[a-zA-Z])(.+)$/s.exec(word)?.[1];
  // Some programs expand a tilde that bash did not expand.
  const ofHome = /\s/.test(word) ? word.match(OF_HOME) : word.match(OF_ANY_HOME);
  return [
    word,
    ...(value === undefined ? [] : [value.replace(/^@/, '')]),
    ...inside,
    ...(ofHome ?? []).map((path) => path.replace(/^~/, HOME)),
  ];
}

const OF_HOME = /\uE002\/[^\s"'`,;:()<>|&=@]*/g;
const OF_ANY_HOME = /(?:\uE002|(?<![\w.~-])~)\/[^\s"'`,;:()<>|&=@]*/g;

function isSecret(place: PossibleFolders, path: string): boolean {
  return resolveIn(place, path).some((resolved) => {
    if (resolved === undefined) {
      return isUnknown(path) && (namesSecret(path) || showsProcess(path));
    }
    if (/^\/proc(\/|$)/.test(resolved)) return showsProcess(resolved);
    if (MEMORY.test(resolved)) return true;
    const below = resolved.replace(LITERAL_HOME, A_HOME);
    if (DENIED.covers(below.replaceAll(HOME, '')) !== undefined) return true;
    if (below.startsWith(`${A_HOME}/`)) return matchesFloor(below.slice(A_HOME.length + 1));
    return matchesSystem(below);
  });
}

/** Whether this file of `/proc` may show the secrets of a process. An unknown process may be any. */
function showsProcess(path: string): boolean {
  const known = path.replaceAll(/[\uE000\uE001\uE004]/g, '1');
  if (!/^\/proc\/+[^/]/.test(known)) return false;
  return !KERNEL.test(known) && !OF_PROCESS.test(known);
}

/** Whether a path names a secret although only its end is known, as in `"$dir"/.ssh/id_rsa`. */
function namesSecret(path: string): boolean {
  return /\/\.(ssh|aws|gnupg|kube|azure|password-store)\/./.test(path);
}

/** Whether a pattern may find a file on the deny floor. */
function matchesFloor(path: string): boolean {
  if (!path.includes(GLOB)) return false;
  const parts = path.split('/');
  return OF_HOMES.some((floor) =>
    floor.every((part, at) => {
      const given = parts[at];
      // The pattern ends above the secret: a folder that it matches may be read with everything below.
      if (given === undefined) return at > 0 && parts[0]?.startsWith('.') === true;
      // A pattern finds hidden names only where it begins with a dot.
      if (given === GLOB || (part.startsWith('.') && given.startsWith(GLOB))) return false;
      return matchesWord(given.replaceAll(GLOB, '*'), part, 'surely');
    }),
  );
}

/** Whether a pattern may find a file of the system that is on the deny floor. */
function matchesSystem(path: string): boolean {
  if (!path.includes(GLOB)) return false;
  const parts = path.split('/').map((part) => part.replaceAll(GLOB, '*'));
  return OF_SYSTEM.some(
    (floor) =>
      floor.length <= parts.length &&
      floor.every((part, at) => matchesWord(parts[at] ?? '', part, 'surely')),
  );
}

function isAbove(place: PossibleFolders, path: string): boolean {
  return resolveIn(place, path).some(
    (resolved) =>
      resolved !== undefined &&
      !resolved.startsWith(place.workingDir) &&
      (ABOVE_HOME.test(resolved) || HIDDEN_FOLDER.test(resolved)),
  );
}

import { matchesWord } from '../command-pattern.js';
import { findRoots, findsRepository, isFiltered, isTested } from '../find-executions.js';
import { GLOB, isUnknown, maySplit } from '../marked-text.js';
import { hasLong, hasShort, operandsOf, readOperands } from '../options.js';
import { worthOf } from '../path-worth.js';
import type { PossibleFolders } from '../possible-folders.js';
import type { SimpleCommand } from '../simple-command.js';
import { ask, type BuiltInRule, deny, type Objection, worst } from './rule.js';

/** The rule about removing folders with everything below them. */
export const recursiveRemoval: BuiltInRule = {
  name: 'recursive-removal',
  about:
    'Removing a root, a home or the working directory with all below it, and what is elsewhere.',
  judge(command, place) {
    const { name, args } = command;
    switch (name) {
      case 'rm':
      case 'grm':
      case 'srm':
      case 'trash':
      case 'rimraf':
      case 'del-cli':
        return removal(command, place);
      case 'find':
      case 'gfind':
        return args.includes('-delete') ? deletion(args, place) : undefined;
      case 'shred':
      case 'unlink':
      case 'wipe':
        return single(args, place);
      case 'truncate':
        return emptied(args, place);
      case 'mv':
        return worst(
          sourcesOf(args).map((path) => {
            if (REPOSITORY.test(path)) return ask('moves the history of the repository away');
            const worth = worthOf(place, path);
            if (worth === 'all') return deny('moves it all away');
            return worth === 'elsewhere'
              ? ask('moves away what is outside the working directory')
              : undefined;
          }),
        );
      case 'tar':
      case 'gtar':
      case 'bsdtar':
        return hasLong(args, 'remove-files', 8)
          ? worst(operandsOf(args).map((path) => judgePath(place, path)))
          : undefined;
      case 'rsync':
        return args.some((word) => /^--del/.test(word))
          ? worst(
              operandsOf(args)
                .slice(-1)
                .map((path) => judgePath(place, path)),
            )
          : undefined;
    }
    return undefined;
  },
};

function removal({ name, args }: SimpleCommand, place: PossibleFolders): Objection | undefined {
  const isRecursive =
    name !== 'rm' && name !== 'grm' && name !== 'srm'
      ? true
      : hasShort(args, 'r') || hasShort(args, 'R') || hasLong(args, 'recursive');
  const paths = operandsOf(args);
  if (isRecursive) {
    // An unknown word among the options may hold paths as well.
    const isUnclear = args.some((word) => word.startsWith('-') && maySplit(word));
    return worst([
      ...paths.map((path) => judgePath(place, path)),
      isUnclear ? ask('removes a folder that is known only when it runs') : undefined,
    ]);
  }
  // An unknown word may be `-rf`.
  const mayRecurse = args.some(
    (word) => maySplit(word) || (isUnknown(word) && !word.includes('/')),
  );
  return worst([
    single(args, place),
    ...(mayRecurse ? paths.filter((path) => !isUnknown(path)) : []).map((path) =>
      worthOf(place, path) === 'all' ? ask('may remove it with all below it') : undefined,
    ),
  ]);
}

/** Judges the removal of files, which may be many. */
function single(args: readonly string[], place: PossibleFolders): Objection | undefined {
  return worst(
    operandsOf(args).map((path) => {
      const worth = worthOf(place, path);
      if (path.includes(GLOB) && (isRepository(path) || /^(all|working files)$/.test(worth))) {
        return ask('removes many files at once');
      }
      return worth === 'elsewhere'
        ? ask('removes what is outside the working directory')
        : undefined;
    }),
  );
}

/**
 * Judges the files that `truncate` makes shorter: all operands except the values of its options.
 */
function emptied(args: readonly string[], place: PossibleFolders): Objection | undefined {
  const { readings } = readOperands(args, {
    short: 'rs',
    long: ['reference', 'size'],
    flags: ['no-create', 'io-blocks'],
  });
  return worst(
    readings
      .flat()
      .map((path) =>
        worthOf(place, path) === 'elsewhere'
          ? ask('empties what is outside the working directory')
          : undefined,
      ),
  );
}

/**
 * Returns the files that `mv` moves: all operands except the last, or all when `-t` names the
 * target.
 */
function sourcesOf(args: readonly string[]): string[] {
  const at = args.findIndex((word) => /^(-[a-zA-Z]*t|--t[a-z-]*)$/.test(word));
  if (at !== -1) return operandsOf(args.filter((_, index) => index !== at && index !== at + 1));
  const isJoined = args.some((word) => /^(-t.|--t[a-z-]*=)/.test(word));
  return isJoined ? operandsOf(args) : operandsOf(args).slice(0, -1);
}

const REPOSITORY = /(^|\/)\.git(\/|$)/;

/** Whether a path is, or may be, the history of a repository. */
function isRepository(path: string): boolean {
  if (REPOSITORY.test(path)) return true;
  const name = path.split('/').findLast((part) => part !== '') ?? '';
  return (
    name.startsWith('.') &&
    name.includes(GLOB) &&
    matchesWord(name.replaceAll(GLOB, '*'), '.git', 'surely')
  );
}

function judgePath(place: PossibleFolders, path: string): Objection | undefined {
  if (isRepository(path)) return ask('removes the history of the repository');
  switch (worthOf(place, path)) {
    case 'all':
      return deny('removes a root, a home or the working directory with all below it');
    case 'working files':
      return ask('removes everything in the working directory');
    case 'elsewhere':
      return ask('removes what is outside the working directory, with all below it');
    case 'unknown':
      return ask('removes a folder that is known only when it runs');
    case 'little':
      return undefined;
  }
}

function deletion(args: readonly string[], place: PossibleFolders): Objection | undefined {
  if (findsRepository(args)) return ask('removes the history of the repository');
  const isNamed = isFiltered(args);
  return worst(
    findRoots(args).map((root) => {
      if (isNamed && worthOf(place, `${root}/found`) === 'little') return undefined;
      // Any test may leave out the root itself.
      return judgePath(place, isTested(args) ? `${root}/${GLOB}` : root);
    }),
  );
}

/** The rule about changing owner or permissions of a folder and everything below it. */
export const recursiveOwnership: BuiltInRule = {
  name: 'recursive-ownership',
  about:
    'Changing owner or permissions of a root, a home or something elsewhere, with all below it.',
  judge({ name, args }, place) {
    if (!/^(chmod|chown|chgrp|chattr|setfacl|chcon)$/.test(name ?? '')) return undefined;
    if (!hasShort(args, 'R') && !hasLong(args, 'recursive')) return undefined;
    return worst(
      // The first operand may be a mode. As a path, a mode is harmless.
      operandsOf(args)
        .filter((path, at) => at > 0 || !isUnknown(path))
        .map((path) => {
          const worth = worthOf(place, path);
          const inside = worthOf(place, `${path}/found`) === 'little';
          if (worth === 'all')
            return inside ? undefined : deny('changes a root or a home with all below it');
          if (worth === 'elsewhere') return ask('changes what is outside the working directory');
          return worth === 'unknown'
            ? ask('changes a folder that is known only when it runs')
            : undefined;
        }),
    );
  },
};

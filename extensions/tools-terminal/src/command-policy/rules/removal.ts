import { findRoots, isFiltered } from '../find-executions.js';
import { isUnknown, maySplit } from '../marked-text.js';
import { hasLong, hasShort, operandsOf } from '../options.js';
import type { Place } from '../place.js';
import { worthOf } from '../precious.js';
import type { SimpleCommand } from '../simple-command.js';
import { ask, type BuiltInRule, deny, type Objection, worst } from './rule.js';

/** Removal of folders with all below them. */
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
      case 'mv':
        return worst(
          operandsOf(args)
            .slice(0, -1)
            .map((path) =>
              worthOf(place, path) === 'all' ? deny('moves it all away') : undefined,
            ),
        );
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

function removal({ name, args }: SimpleCommand, place: Place): Objection | undefined {
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
  if (!args.some((word) => maySplit(word) || (isUnknown(word) && !word.includes('/'))))
    return undefined;
  const known = paths.filter((path) => !isUnknown(path));
  return worst(
    known.map((path) =>
      worthOf(place, path) === 'all' ? ask('may remove it with all below it') : undefined,
    ),
  );
}

function judgePath(place: Place, path: string): Objection | undefined {
  if (/(^|\/)\.git\/?$/.test(path)) return ask('removes the history of the repository');
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

function deletion(args: readonly string[], place: Place): Objection | undefined {
  const filtered = isFiltered(args);
  return worst(
    findRoots(args).map((root) => {
      const objection = judgePath(place, root);
      // With a filter, the working directory itself stays.
      const isHere = worthOf(place, `${root}/found`) === 'little';
      return filtered && isHere ? undefined : objection;
    }),
  );
}

/** Changes of owner and permissions with all below. */
export const recursiveOwnership: BuiltInRule = {
  name: 'recursive-ownership',
  about:
    'Changing owner or permissions of a root, a home or something elsewhere, with all below it.',
  judge({ name, args }, place) {
    if (!/^(chmod|chown|chgrp|chattr|setfacl|chcon)$/.test(name ?? '')) return undefined;
    if (!hasShort(args, 'R') && !hasLong(args, 'recursive')) return undefined;
    return worst(
      operandsOf(args)
        .slice(1)
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

import { isUnknown, maySplit } from '../marked-text.js';
import { hasLong, hasShort, operandsOf, optionsOf, readOperands } from '../options.js';
import { ask, type BuiltInRule, deny, type Objection, worst } from './rule.js';

const GLOBAL = {
  short: 'Cc',
  long: [
    'git-dir',
    'work-tree',
    'namespace',
    'super-prefix',
    'exec-path',
    'config-env',
    'attr-source',
  ],
  flags: [
    'no-pager',
    'paginate',
    'bare',
    'no-replace-objects',
    'literal-pathspecs',
    'no-optional-locks',
    'version',
    'help',
    'html-path',
  ],
};

/** The subcommand of git, with what follows it. */
export function gitSubcommand(args: readonly string[]): string[] {
  return readOperands(args, GLOBAL).readings[0] ?? [];
}

/** A rule about git, by what each subcommand says. */
function gitRule(
  name: string,
  about: string,
  bySubcommand: Readonly<Record<string, (rest: readonly string[]) => Objection | undefined>>,
): BuiltInRule {
  return {
    name,
    about,
    judge(command) {
      if (command.name !== 'git') return undefined;
      return worst(
        readOperands(command.args, GLOBAL).readings.map(([subcommand = '', ...rest]) =>
          Object.hasOwn(bySubcommand, subcommand) ? bySubcommand[subcommand]?.(rest) : undefined,
        ),
      );
    },
  };
}

/** Pushes that take something away from others. */
export const gitForcePush = gitRule(
  'git-force-push',
  'Pushing over, or deleting, what is on the other side.',
  {
    push(rest) {
      const refs = operandsOf(rest).slice(1);
      if (
        hasShort(rest, 'f') ||
        (hasLong(rest, 'force', 5) && !onlyLease(rest)) ||
        hasLong(rest, 'mirror', 2) ||
        hasLong(rest, 'prune', 3)
      ) {
        return deny('overwrites what is on the other side');
      }
      if (refs.some((ref) => ref.startsWith('+')))
        return deny('overwrites what is on the other side');
      if (onlyLease(rest)) return ask('overwrites what is on the other side');
      if (
        hasShort(rest, 'd') ||
        hasLong(rest, 'delete', 2) ||
        refs.some((ref) => ref.startsWith(':'))
      ) {
        return ask('deletes what is on the other side');
      }
      return rest.some((word) => maySplit(word) || /^[\uE000]/.test(word))
        ? ask('pushes what is known only when it runs')
        : undefined;
    },
    'send-pack': () => ask('pushes without its usual safety'),
  },
);

function onlyLease(rest: readonly string[]): boolean {
  const forces = optionsOf(rest).filter(
    (word) => word.startsWith('--force') || '--force'.startsWith(word),
  );
  return forces.length > 0 && forces.every((word) => /^--force-(w|i)/.test(word));
}

/** Commits and their history. */
export const gitHistory = gitRule(
  'git-history',
  'Rewriting history, or dropping what git would keep.',
  {
    'filter-branch': () => deny('rewrites the whole history'),
    'filter-repo': () => deny('rewrites the whole history'),
    'fast-import': () => ask('writes history'),
    replace: () => ask('replaces history'),
    reflog: ([what]) =>
      what === 'expire' || what === 'delete' ? deny('drops what undoes a mistake') : undefined,
    gc: (rest) =>
      rest.some((word) => /^--prune=/.test(word)) ? ask('drops what undoes a mistake') : undefined,
    prune: () => ask('drops what undoes a mistake'),
    'update-ref': (rest) => (hasShort(rest, 'd') ? ask('deletes a reference') : undefined),
    branch: (rest) =>
      hasShort(rest, 'D') ||
      ((hasShort(rest, 'd') || hasLong(rest, 'delete')) &&
        (hasShort(rest, 'f') || hasLong(rest, 'force')))
        ? ask('deletes a branch, merged or not')
        : undefined,
    tag: (rest) =>
      hasShort(rest, 'd') || hasLong(rest, 'delete') ? ask('deletes a tag') : undefined,
    stash: ([what]) =>
      what === 'drop' || what === 'clear' ? ask('drops stashed changes') : undefined,
    worktree: ([what, ...rest]) =>
      what === 'remove' && (hasShort(rest, 'f') || hasLong(rest, 'force'))
        ? ask('removes a changed worktree')
        : undefined,
  },
);

/** Work that was never committed. */
export const gitUncommitted = gitRule(
  'git-uncommitted',
  'Throwing away changes that were not committed.',
  {
    reset: (rest) =>
      hasLong(rest, 'hard') || hasLong(rest, 'merge', 3)
        ? ask('throws away uncommitted changes')
        : undefined,
    clean: (rest) =>
      (hasShort(rest, 'f') || hasLong(rest, 'force')) &&
      !hasShort(rest, 'n') &&
      !hasLong(rest, 'dry-run')
        ? ask('deletes files that are not in the repository')
        : undefined,
    checkout: (rest) =>
      hasShort(rest, 'f') || hasLong(rest, 'force') || rest.at(-1) === '.'
        ? ask('throws away uncommitted changes')
        : undefined,
    switch: (rest) =>
      hasShort(rest, 'f') || hasLong(rest, 'force') || hasLong(rest, 'discard-changes')
        ? ask('throws away uncommitted changes')
        : undefined,
    restore: (rest) =>
      operandsOf(rest).some((path) => /^(\.|:\/|\*|\uE003)$/.test(path)) &&
      !(hasLong(rest, 'staged') || hasShort(rest, 'S'))
        ? ask('throws away uncommitted changes')
        : undefined,
    rm: (rest) =>
      hasShort(rest, 'f') && operandsOf(rest).some((path) => /^(\.|\uE003|\/)$/.test(path))
        ? ask('removes everything in the working directory')
        : undefined,
  },
);

/** A subcommand that is not known before it runs. */
export const gitUnknown: BuiltInRule = {
  name: 'git-unknown',
  about: 'A git subcommand that is known only when it runs.',
  judge({ name, args }) {
    if (name !== 'git') return undefined;
    if (args.some((word) => /^--exec-path=/.test(word)))
      return ask('takes its subcommands from elsewhere');
    const [subcommand = ''] = gitSubcommand(args);
    return isUnknown(subcommand)
      ? ask('runs a git subcommand that is known only when it runs')
      : undefined;
  },
};

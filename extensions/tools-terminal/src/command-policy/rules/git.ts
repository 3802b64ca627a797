import { isUnknown, maySplit } from '../marked-text.js';
import { hasLong, hasShort, operandsOf, optionsOf, readOperands } from '../options.js';
import type { SimpleCommand } from '../simple-command.js';
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

/** Returns the subcommand of git, with the words after it. */
export function gitSubcommand(args: readonly string[]): string[] {
  return readOperands(args, GLOBAL).readings[0] ?? [];
}

/** Returns the words after `git`; for `git-push x`, it returns `push x`. */
export function gitArgs({ name = '', args }: SimpleCommand): readonly string[] | undefined {
  if (/^(git|hub)$/.test(name)) return args;
  return /^git-[a-z-]+$/.test(name) ? [name.slice(4), ...args] : undefined;
}

/**
 * Returns the settings that a command of git sets or stores: `[key, value]`, the key in lower case.
 */
export function gitSettings(args: readonly string[]): [key: string, value: string][] {
  const given: string[] = [];
  for (const [at, word] of args.entries()) {
    const next = args[at + 1];
    if (/^(-c|--config)$/.test(word) && next !== undefined) given.push(next);
    const joined = /^(?:-c|--config=)(.+)$/s.exec(word)?.[1];
    if (joined !== undefined) given.push(joined);
  }
  const config = gitSubcommand(args);
  if (config[0] === 'config') {
    const operands = config
      .slice(1)
      .filter(
        (word, at, all) =>
          !word.startsWith('-') &&
          !/^(-f|--file|--blob|--type|--default|--comment|--value)$/.test(all[at - 1] ?? '') &&
          !(at === 0 && word === 'set') &&
          !(word === 'set' && all.slice(0, at).every((before) => before.startsWith('-'))),
      );
    const [key, value] = operands;
    if (key !== undefined && value !== undefined) given.push(`${key}=${value}`);
  }
  return given.map((setting) => {
    const at = setting.indexOf('=');
    return at === -1
      ? [setting.toLowerCase(), 'true']
      : [setting.slice(0, at).toLowerCase(), setting.slice(at + 1)];
  });
}

/** Matches settings whose values are commands, or folders with commands. */
export const GIT_RUNS =
  /^(alias\..*|core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath|alternaterefscommand)|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|difftool\..*\.cmd|mergetool\..*\.cmd|merge\..*\.driver|filter\..*\.(clean|smudge|process)|pager\..*|gpg\.(.*\.)?program|credential\.(.*\.)?helper|interactive\.difffilter|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack|vcs)|receive\..*|sendemail\..*cmd|web\.browser|browser\..*\.cmd|man\..*\.cmd|http\.(.*\.)?sslcert)$/i;

/** Makes a rule about git from a judgement of each subcommand. */
function gitRule(
  name: string,
  about: string,
  bySubcommand: Readonly<Record<string, (rest: readonly string[]) => Objection | undefined>>,
): BuiltInRule {
  return {
    name,
    about,
    judge(command) {
      const args = gitArgs(command);
      if (args === undefined) return undefined;
      return worst(
        readOperands(args, GLOBAL).readings.map(([subcommand = '', ...rest]) =>
          Object.hasOwn(bySubcommand, subcommand) ? bySubcommand[subcommand]?.(rest) : undefined,
        ),
      );
    },
  };
}

const pushing = gitRule('git-force-push', 'Pushing over, or deleting, what is on the other side.', {
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
    const isUpstream = hasShort(rest, 'u') || hasLong(rest, 'set-upstream', 2);
    return rest.some(
      (word, at) =>
        (maySplit(word) && !(isUpstream && at === rest.length - 1 && refs.length === 1)) ||
        /^[\uE000]/.test(word),
    )
      ? ask('pushes what is known only when it runs')
      : undefined;
  },
  'send-pack': () => ask('pushes without its usual safety'),
});

/** The rule about pushes that remove the work of others. */
export const gitForcePush: BuiltInRule = {
  ...pushing,
  judge(command, place) {
    const args = gitArgs(command) ?? [];
    const overwrites = gitSettings(args).some(([key, value]) =>
      /^remote\..*\.push$/.test(key)
        ? value.startsWith('+')
        : /^remote\..*\.mirror$/.test(key) && !/^(false|no|off|0)$/.test(value),
    );
    return worst([
      pushing.judge(command, place),
      overwrites
        ? gitSubcommand(args)[0] === 'config'
          ? ask('makes every push overwrite what is on the other side')
          : deny('overwrites what is on the other side')
        : undefined,
    ]);
  },
};

function onlyLease(rest: readonly string[]): boolean {
  const forces = optionsOf(rest).filter(
    (word) => word.startsWith('--force') || '--force'.startsWith(word),
  );
  return forces.length > 0 && forces.every((word) => /^--force-(w|i)/.test(word));
}

/** The rule about commands that lose commits and their history. */
export const gitHistory = gitRule(
  'git-history',
  'Rewriting history, or dropping what git would keep.',
  {
    'filter-branch': () => deny('rewrites the whole history'),
    'filter-repo': () => deny('rewrites the whole history'),
    'fast-import': () => ask('writes history'),
    replace: (rest) =>
      rest.some((word) => /^(-l|--list)$/.test(word)) || rest.length === 0
        ? undefined
        : ask('replaces history'),
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

/** Whether a path means the whole working tree. */
function isAll(path: string): boolean {
  return (
    /^(\.?\/*|(\.\/+)+|:\/?|:\(top\)|(:\/)?[*\uE003]+|\.\/[*\uE003]+)$/.test(path) && path !== ''
  );
}

/** The rule about commands that lose work which was never committed. */
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
      // The letters after `e` in the same word are its value.
      !rest.some((word) => /^-[^-e]*n/.test(word)) &&
      !hasLong(rest, 'dry-run')
        ? ask('deletes files that are not in the repository')
        : undefined,
    checkout: (rest) =>
      hasShort(rest, 'f') || hasLong(rest, 'force') || isAll(rest.at(-1) ?? '')
        ? ask('throws away uncommitted changes')
        : undefined,
    switch: (rest) =>
      hasShort(rest, 'f') || hasLong(rest, 'force') || hasLong(rest, 'discard-changes')
        ? ask('throws away uncommitted changes')
        : undefined,
    restore: (rest) =>
      operandsOf(rest).some(isAll) &&
      (!(hasLong(rest, 'staged') || hasShort(rest, 'S')) ||
        hasLong(rest, 'worktree') ||
        hasShort(rest, 'W'))
        ? ask('throws away uncommitted changes')
        : undefined,
    rm: (rest) =>
      (hasShort(rest, 'f') || hasLong(rest, 'force')) && operandsOf(rest).some(isAll)
        ? ask('removes everything in the working directory')
        : undefined,
  },
);

/** The rule about a subcommand of git that is known only at run time. */
export const gitUnknown: BuiltInRule = {
  name: 'git-unknown',
  about: 'A git subcommand that is known only when it runs.',
  judge({ name, args }) {
    if (!/^(git|hub)$/.test(name ?? '')) return undefined;
    if (args.some((word) => /^--(exec-path=|config-env)/.test(word)))
      return ask('takes its subcommands from elsewhere');
    const opens = gitSettings(args).some(([key, value]) =>
      /^(include|includeif\..*)\.?path$|^include/.test(key)
        ? true
        : /^protocol\.(.*\.)?allow$/.test(key) && value !== 'never',
    );
    if (opens) return ask('takes settings from elsewhere, or commands from addresses');
    const [subcommand = ''] = gitSubcommand(args);
    return isUnknown(subcommand)
      ? ask('runs a git subcommand that is known only when it runs')
      : undefined;
  },
};

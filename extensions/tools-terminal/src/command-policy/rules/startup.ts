import { GLOB, isUnknown } from '../marked-text.js';
import { hasShort } from '../options.js';
import { type PossibleFolders, resolveIn } from '../possible-folders.js';
import type { SimpleCommand } from '../simple-command.js';
import { writtenBy } from './devices.js';
import { GIT_RUNS, gitArgs, gitSettings, gitSubcommand } from './git.js';
import { ask, type BuiltInRule, worst } from './rule.js';

// Files of a home that a shell, a login, a common program or the desktop reads at its start.
const IN_HOME =
  /^(?:\uE002|\/root|\/(?:home|Users)\/[^/]+)\/(?:\.(?:bash|zsh|zlog|zprofile|profile|kshrc|cshrc|tcshrc|login|logout|inputrc|ssh|gnupg|aws|kube|docker|npmrc|netrc|git|hg|config\/(?:autostart|systemd|environment\.d|fish|git|zsh|nushell|powershell|nvim|pip|npm|uv|starship|direnv|mise)|local\/share\/(?:systemd|applications|bash-completion|dbus-1)|pam_environment|vim|exrc|nanorc|emacs|xinitrc|xprofile|xsession|Xresources|tmux|screenrc|curlrc|wgetrc|gdbinit|lldbinit|pythonrc|pypirc|pip|pdbrc|irbrc|gemrc|Rprofile|psqlrc|sqliterc|my\.cnf|cargo\/(?:config|env)|rustup|m2|gradle|yarnrc|bunfig|mailcap|forward|procmailrc|crontab|direnvrc|asdfrc|huskyrc|atom\/init|vscode|cursor|claude|codex)|Library\/(?:LaunchAgents|LaunchDaemons))/;
// Files that are found by their names in any folder.
const PROGRAMS =
  /^(?:\uE002|\/root|\/(?:home|Users)\/[^/]+)\/(?:\.(?:local|cargo)\/bin|bin)(?:\/|$)/;
const OF_SYSTEM = /^\/(?:etc|usr|bin|sbin|lib|lib64|boot|opt|var\/spool|var\/lib|Library|System)\//;
const HOOKS = /\/\.git\/(?:modules\/.*)?(?:hooks|config)|\/\.husky\//;

/** Matches programs that only show a file, check it, or run it at once. They do not write to it. */
const READERS =
  /^(cat|mkdir|bat|batcat|tac|nl|less|more|head|tail|[efrz]*grep|rg|ag|ack|ls|exa|eza|ll|tree|stat|file|wc|diff|cmp|comm|md5sum|sha\d+sum|b2sum|cksum|xxd|od|hexdump|strings|base64|cut|du|source|\.|test|\[|echo|printf|cd|pushd|realpath|readlink|dirname|basename|which|type|find|fd|fdfind|jq|column|fold|rev|sort|uniq|sed|g?sed|[gmn]?awk|true|false|:|command|exec|export|for|read|shellcheck|git|rm|unlink|shred|truncate|mv|cp|tar|zip|rsync|scp|ln|install|env|sh|bash|zsh|node|python3?|perl|ruby)$/;
/** The options with which some of these programs write. */
const IN_PLACE: readonly [names: RegExp, option: RegExp][] = [
  [/^(g?sed|perl|ruby)$/, /^-[a-zA-Z0-9]*i|^--in-place/],
  [/^g?sort$/, /^-[a-zA-Z]*o|^--output/],
  [/^[gmn]?awk$/, /^(-i|--include)$|inplace/],
  [/^(xxd|shellcheck)$/, /^-r|^-f/],
];

/** The rule about files that are run or read later without anybody noticing. */
export const startupFiles: BuiltInRule = {
  name: 'startup-file',
  about: 'Writing to files that run or are obeyed when something starts.',
  judge(command, place) {
    const { name = '', args, redirects } = command;
    const written = redirects.filter(({ writes }) => writes).map(({ target }) => target);
    return worst([
      ...[...written, ...writtenBy(name, args)].map((path) =>
        isObeyed(place, path, [IN_HOME, PROGRAMS, OF_SYSTEM, HOOKS])
          ? ask('writes to a file that something obeys when it starts')
          : undefined,
      ),
      ...perhapsWritten(command).map((path) =>
        isObeyed(place, path, [IN_HOME, HOOKS])
          ? ask('may write to a file that something obeys when it starts')
          : undefined,
      ),
      ...extracted(command).map((path) =>
        isObeyed(place, `${path}/${GLOB}`, [TOP, IN_HOME, PROGRAMS, OF_SYSTEM, HOOKS])
          ? ask('unpacks files where something obeys them when it starts')
          : undefined,
      ),
      laterByGit(command) ? ask('sets what git runs later') : undefined,
    ]);
  },
};

/** Matches a home or the root, with its hidden files. */
const TOP = /^(?:\uE002|\/root|\/(?:home|Users)\/[^/]+)?\/[^/]*$/;

function isObeyed(place: PossibleFolders, path: string, where: readonly RegExp[]): boolean {
  return resolveIn(place, path).some((resolved = '') => where.some((each) => each.test(resolved)));
}

/** Returns the words of a program that may write to files. */
function perhapsWritten({ name = '', args }: SimpleCommand): string[] {
  const isInPlace = IN_PLACE.some(
    ([names, option]) => names.test(name) && args.some((word) => option.test(word)),
  );
  if (name === '' || (READERS.test(name) && !isInPlace)) return [];
  return args.flatMap((word) => {
    const value = /^(?:-[-\w]*=|\w+=|-[a-zA-Z](?=[/~.\uE002]))(.+)$/s.exec(word)?.[1];
    return value === undefined ? [word] : [word, value];
  });
}

/** Returns the folders into which an archive is unpacked. */
function extracted({ name = '', args }: SimpleCommand): string[] {
  const option = /^[gb]?s?d?tar$/.test(name)
    ? /^(-[a-zA-Z]*C|--directory)$/
    : /^(unzip|bsdtar|7z[ar]?)$/.test(name)
      ? /^-[a-zA-Z]*d$/
      : undefined;
  if (option === undefined) return [];
  if (name.endsWith('tar') && !args.some((word) => /^-?[a-zA-Z]*x|^--(ex|get)/.test(word)))
    return [];
  return args.filter((_, at) => option.test(args[at - 1] ?? ''));
}

/** Matches programs that a setting of git may name without approval. */
const USUAL_PROGRAM =
  /^(true|false|\d*|cat|less|more|delta|diff-so-fancy|vim?|nvim|nano|emacs|code|subl|hx|micro)( (-[\w-]+))*$/;

/**
 * Whether a command stores a setting that later makes git run something, or talk to another host.
 */
function laterByGit(command: SimpleCommand): boolean {
  const args = gitArgs(command);
  if (args === undefined) return false;
  const [subcommand = '', ...rest] = gitSubcommand(args);
  if (subcommand !== 'config') return false;
  if (hasShort(rest, 'e') || rest.includes('edit') || rest.includes('--edit')) return true;
  return gitSettings(args).some(([key, value]) => {
    if (isUnknown(key)) return true;
    if (/^alias\./.test(key)) return value.startsWith('!') || isUnknown(value);
    const runs = GIT_RUNS.test(key) || /^(init\.templatedir|url\..*\.(push)?insteadof)$/.test(key);
    return runs && !USUAL_PROGRAM.test(value);
  });
}

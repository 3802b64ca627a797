import type { ArgumentPolicy } from '@ethosagent/types';

/** Why arguments are refused: the position of the argument, and the pattern that denies it. */
export interface ArgumentRefusal {
  /** Counted from 0. */
  position: number;
  /** The pattern that denies it; absent when no `allow` pattern matches it. */
  denied?: string;
}

/** A policy, compiled: the first refusal, or `undefined` when the arguments may pass. */
export type ArgumentCheck = (args: readonly string[]) => ArgumentRefusal | undefined;

type Matches = (arg: string, next: string | undefined) => boolean;

/**
 * Compiles which arguments a binary may get. A pattern is compared in linear time; `*` stands for
 * any characters, also for no character, and nothing else is special.
 *
 * A denied option without `*` also stands for its other spellings, rather for too many than for too
 * few: `-c` for `-cx` and `-pc`; `-oName` also for `-vo name=x`, in one argument or in two, and
 * `--oName`; `--exec` for `--exec=x`, each abbreviation down to `--e`, and `-exec`. Any other
 * pattern without `*` is the argument itself.
 *
 * @param policy patterns: every argument must match one of `allow`, one of each list of
 * `allow_each`, and no pattern of `deny`
 * @returns a check that takes the arguments, and gives the place of the first refused one, or
 * `undefined`
 */
export function compileArgumentPolicy({
  allow,
  deny = [],
  allow_each = [],
}: ArgumentPolicy): ArgumentCheck {
  const lists = [...(allow === undefined ? [] : [allow]), ...allow_each].map((list) =>
    list.map(compileGlob),
  );
  const denied = deny.map((pattern) => ({ pattern, matches: compileDenied(pattern) }));
  return (args) => {
    for (const [position, arg] of args.entries()) {
      const refusing = denied.find(({ matches }) => matches(arg, args[position + 1]));
      if (refusing !== undefined) return { position, denied: refusing.pattern };
      if (lists.some((allowed) => !allowed.some((matches) => matches(arg)))) return { position };
    }
    return undefined;
  };
}

function compileDenied(pattern: string): Matches {
  if (pattern.includes('*')) return compileGlob(pattern);
  if (pattern.startsWith('--') && pattern.length > 2) return longOption(pattern);
  if (/^-[^-]/.test(pattern)) return shortOption(pattern);
  return (arg) => arg === pattern;
}

function longOption(option: string): Matches {
  const oneDash = option.slice(1);
  return (arg) => {
    const name = nameOf(arg);
    // `getopt_long` and git accept a shortened name for the whole one. `--` alone ends the options.
    return arg === option || name === oneDash || (name.length > 2 && option.startsWith(name));
  };
}

/** `-c`, or `-oName`, which is either `-o` with a value or a long name after one dash. */
function shortOption(option: string): Matches {
  const letter = option.charAt(1);
  const value = option.slice(2).trimStart().toLowerCase();
  const twoDashes = `-${option}`;
  return (arg, next) => {
    if (value !== '' && nameOf(arg) === twoDashes) return true;
    if (!/^-[^-]/.test(arg)) return false;
    // The letters before it may be options without a value.
    const clusterEnd = Math.max(2, /^-[^\s=/.]*/.exec(arg)?.[0].length ?? 0);
    // Lower case may be longer than the original, but not for the letters of the cluster.
    const rest = arg.slice(2).toLowerCase();
    for (let at = arg.indexOf(letter, 1); at > 0 && at < clusterEnd; ) {
      if (rest.startsWith(value, afterSpaces(rest, at - 1))) return true;
      if (at === arg.length - 1 && next?.trimStart().toLowerCase().startsWith(value)) return true;
      at = arg.indexOf(letter, at + 1);
    }
    return false;
  };
}

function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text.charAt(at).trim() === '' && at < text.length) at++;
  return at;
}

function nameOf(arg: string): string {
  const end = arg.indexOf('=');
  return end < 0 ? arg : arg.slice(0, end);
}

function compileGlob(pattern: string): (arg: string) => boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return (arg) => arg === pattern;
  return (arg) => {
    if (!arg.startsWith(first)) return false;
    let at = first.length;
    for (const part of others) {
      const found = arg.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return arg.length - last.length >= at && arg.endsWith(last);
  };
}

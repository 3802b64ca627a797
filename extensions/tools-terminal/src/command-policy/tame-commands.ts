import type { Command, ParsedScript, Word } from 'unbash';

/** Whether a text has no expansion, whatever evaluates it. */
export function readsAsText(text: string): boolean {
  return !/[`$\\'"]/.test(text);
}

// Their output is a number, or a name in which no `[`, `$` or backtick can stand.
const TAME: readonly RegExp[] = [
  /^(nproc|arch|whoami|hostname|logname|tty|uname( -[a-z]+)?|getconf \w+)$/,
  /^date( -u)? \+(%[sYmdHMSNjuwCgGIklyFTR]|[0-9:_.-])+$/,
  /^wc -[lcmwL]$/,
  /^id( -[ugG]n?)?$/,
  /^git (rev-list --count|rev-parse( --(short|verify|abbrev-ref))*|branch --show-current)( [\w@][\w./^~@-]*)*$/,
  /^jq length$/,
];

/**
 * Returns the output of a substitution as arithmetic sees it: `1` when it is known to be a number
 * or a plain name; for `seq`, its words, because its output is no worse than they are; else
 * `undefined`.
 *
 * @param functions the names of functions in the same text, which hide programs of the same name
 */
export function tameOutput(
  script: ParsedScript,
  functions: ReadonlySet<string>,
): string | undefined {
  const last = script.commands.at(-1)?.command;
  if (script.commands.length !== 1 || last === undefined) return undefined;
  const command = last.type === 'Pipeline' ? last.commands.at(-1) : last;
  if (command?.type !== 'Command' || command.name === undefined) return undefined;
  if (isTame(command, functions)) return '1';
  const words = command.args.map(({ text }) => text);
  const isSequence = command.name.value === 'seq' && !functions.has('seq');
  return isSequence && words.every((word) => SEQUENCE_WORD.test(word))
    ? words.join(' ')
    : undefined;
}

/** Matches a word of `seq`: a number, or a variable, which may have an option in it. */
const SEQUENCE_WORD = /^(-?\d+|-w|\$\w+|\$\{#?\w+\}|"\$\w+")$/;

function isTame(command: Command, functions: ReadonlySet<string>): boolean {
  const { name, prefix, args, redirects } = command;
  if (name === undefined || functions.has(name.value) || prefix.length > 0) return false;
  // Errors may be sent where the output goes.
  if (redirects.some((redirect) => redirect.operator.includes('&'))) return false;
  const words = args.flatMap((word) => (word.type === 'Word' ? [word] : []));
  if (words.length < args.length) return false;
  return (
    TAME.some((pattern) => pattern.test([name, ...words].map(shown).join(' '))) ||
    isCount(name.value, words)
  );
}

/** Whether a command is `grep -c` with at most one file, so that it prints one number. */
function isCount(name: string, [options, pattern, file, ...more]: readonly Word[]): boolean {
  return (
    name === 'grep' &&
    /^-[EFivwx]*c[EFivwx]*$/.test(options?.value ?? '') &&
    pattern !== undefined &&
    isOneWord(pattern) &&
    (file === undefined || isOneWord(file)) &&
    more.length === 0
  );
}

function isOneWord(word: Word): boolean {
  if (word.value.startsWith('-')) return false;
  return word.parts?.every(({ type }) => /Quoted$|^Literal$/.test(type)) ?? true;
}

/**
 * Returns the value of a word; a line break, which matches no pattern, when it has white space or
 * is empty.
 */
function shown(word: Word): string {
  return /\s/.test(word.value) ? '\n' : word.value || '\n';
}

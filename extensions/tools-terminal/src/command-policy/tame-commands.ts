import type { Command, ParsedScript, Word } from 'unbash';

/** Whether text holds no expansion of its own, whatever evaluates it. */
export function readsAsText(text: string): boolean {
  return !/[`$\\'"]/.test(text);
}

// Their output is a number, or a name in which no `[`, `$` or backtick can stand.
const TAME: readonly RegExp[] = [
  /^(nproc|arch|whoami|hostname|logname|tty|uname( -[a-z]+)?|getconf \w+)$/,
  /^seq( -w)?( \S+)+$/,
  /^date( -u)?( \+[%a-zA-Z0-9:_.-]+)?$/,
  /^wc -[lcmwL]$/,
  /^id( -[ugG]n?)?$/,
  /^git (rev-list --count|rev-parse|branch --show-current)( [\w./^~@-]+)*$/,
  /^jq length$/,
];

/**
 * Whether what a substitution writes is known to be harmless where it is evaluated as a number.
 *
 * @param functions names that the same text gives another meaning
 */
export function isTameScript(
  script: ParsedScript | undefined,
  functions: ReadonlySet<string>,
): boolean {
  const last = script?.commands.at(-1)?.command;
  if (script?.commands.length !== 1 || last === undefined) return false;
  const command = last.type === 'Pipeline' ? last.commands.at(-1) : last;
  return command?.type === 'Command' && isTame(command, functions);
}

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

/** `grep -c` of no more than one file. */
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

/** A word of which nothing is quoted, or all that matters of it. */
function shown(word: Word): string {
  return /\s/.test(word.value) ? '\n' : word.value || '\n';
}

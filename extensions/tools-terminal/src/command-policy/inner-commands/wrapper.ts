import { isMarked, SPLIT, UNKNOWN } from '../marked-text.js';
import { readOperands, valuesOf } from '../options.js';
import type { Wrapper } from '../wrappers.js';
import { type InnerCommand, text } from './inner-command.js';

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/**
 * What a wrapper runs, such as `sudo` or `xargs`: its operands, and the texts of its options.
 *
 * @param names what it reads from its input and adds to its operands, as `xargs` does
 */
export function ofWrapper(
  args: readonly string[],
  wrapper: Wrapper,
  names: readonly string[] = [],
): InnerCommand[] {
  const found: InnerCommand[] = valuesOf(args, wrapper.text ?? []).map(text);
  const valued = [...(wrapper.text ?? []), ...(wrapper.splits ?? [])];
  const table = {
    ...wrapper,
    short: `${wrapper.short ?? ''}${shortLetters(valued)}`,
    long: [...(wrapper.long ?? []), ...longNames(valued)],
  };
  if (wrapper.splits !== undefined) found.push(...splitsOf(args));
  const replaced = replacedBy(args, wrapper.replaces ?? []);
  const { options, readings } = readOperands(args, table);
  const isExact = options.some((option) => wrapper.exact?.test(option));
  for (const reading of readings) {
    let words = replaced === undefined ? [...reading] : withUnknown(reading, replaced);
    while (wrapper.assignments === true && ASSIGNMENT.test(words[0] ?? '')) words.shift();
    // A folder or a number before the command is not optional.
    words = words.slice(wrapper.skip ?? 0);
    if (words[0] === '--') words.shift();
    // After the keyword `time`, bash reads `!` as "not".
    while (words[0] === '!') words.shift();
    if (wrapper.adds === true && replaced === undefined)
      words.push(...(words.length === 0 ? [] : [...names, SPLIT]));
    if (words.length === 0) continue;
    if (wrapper.joined === true && !isExact) {
      found.push({ kind: 'text', text: words.join(' '), words });
      const lines = wrapper.several === true && words.length > 1 ? words : [];
      found.push(...lines.filter((word) => /\s/.test(word)).map(text));
    } else found.push({ kind: 'words', words });
  }
  return found;
}

function longNames(options: readonly string[]): string[] {
  return options.filter((option) => option.startsWith('--')).map((option) => option.slice(2));
}

/** Returns what `env -S 'a b' c` runs: `env a b c`. */
function splitsOf(args: readonly string[]): InnerCommand[] {
  const at = args.findIndex((word) => /^-[^-S]*S|^--s/.test(word));
  if (at === -1) return [];
  const joined = (args[at] ?? '').replace(/^-[^-S]*S|^--s[a-z-]*=?/, '');
  const words = args.slice(joined === '' ? at + 2 : at + 1).map(quoted);
  return [text(['env', joined || (args[at + 1] ?? ''), ...words].join(' '))];
}

function quoted(word: string): string {
  return isMarked(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the text that `xargs -I{}` replaces in the words of its command. */
function replacedBy(args: readonly string[], options: readonly string[]): string | undefined {
  if (options.length === 0) return undefined;
  const [given] = valuesOf(args, ['-I']);
  if (given !== undefined) return given;
  const optional = args.find((word) => /^(-i|--replace)/.test(word));
  return optional === undefined ? undefined : optional.replace(/^(-i|--replace=?)/, '') || '{}';
}

function withUnknown(words: readonly string[], replaced: string): string[] {
  return words.map((word) => word.replaceAll(replaced, UNKNOWN));
}

function shortLetters(options: readonly string[] = []): string {
  return options
    .filter((option) => !option.startsWith('--'))
    .map((option) => option.slice(1))
    .join('');
}

/** What a subcommand runs, such as `exec` of `npm`. */
export function ofSubcommand(
  args: readonly string[],
  subcommands: Readonly<Record<string, Wrapper>>,
): InnerCommand[] {
  const found: InnerCommand[] = [];
  for (const [at, word] of args.entries()) {
    const wrapper = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined;
    if (wrapper !== undefined) found.push(...ofWrapper(args.slice(at + 1), wrapper));
    // The subcommand is the first operand, or the value of an option before it.
    if (!word.startsWith('-') && args[at - 1]?.startsWith('-') !== true) break;
  }
  return found;
}

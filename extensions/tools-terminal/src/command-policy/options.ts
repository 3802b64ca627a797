import { isUnknown, maySplit, SPLIT } from './marked-text.js';

/** The options of a program that take the next word as their value. */
export interface OptionTable {
  /** The letters of short options, e.g. `ug` for `-u root -g wheel`. */
  short?: string;
  /** The names of long options, without dashes. */
  long?: readonly string[];
  /** The names of long options that take no value. All others are unknown. */
  flags?: readonly string[];
  /** Whether `-` alone is an option. */
  dash?: boolean;
}

const MAX_READINGS = 16;

/** The operands of a command that has its options before them. */
export interface Operands {
  options: string[];
  /** Every possible reading of the words. An unknown option gives more than one. */
  readings: string[][];
}

/** Splits words into leading options and the words after them. */
export function readOperands(args: readonly string[], table: OptionTable): Operands {
  const options: string[] = [];
  const readings: string[][] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (isUnknown(word) && maySplit(word)) {
      // At run time it may be options, or nothing.
      readings.push(args.slice(at + 1));
      break;
    }
    if (word === '-' && table.dash === true) continue;
    if (!word.startsWith('-') || word === '-') break;
    options.push(word);
    const takes = takesValue(word, table);
    if (takes === 'unknown') {
      if (readings.length < MAX_READINGS) readings.push(args.slice(at + 2));
      else if (readings.length === MAX_READINGS) readings.push([SPLIT]);
    }
    if (takes === true) {
      at += 1;
      options.push(args[at] ?? '');
    }
  }
  readings.unshift(args.slice(at));
  return { options, readings };
}

function takesValue(word: string, table: OptionTable): boolean | 'unknown' {
  if (word.startsWith('--')) {
    if (word.includes('=')) return false;
    const name = word.slice(2);
    if (table.long?.some((long) => long === name || long.startsWith(name))) return true;
    return table.flags?.includes(name) === true ? false : 'unknown';
  }
  const { short = '' } = table;
  // In a group of letters, only the last one can take the next word.
  for (const [index, letter] of [...word.slice(1)].entries()) {
    if (short.includes(letter)) return index === word.length - 2;
  }
  return false;
}

/** Whether a short option letter is set, alone or among others, before a `--`. */
export function hasShort(args: readonly string[], letter: string): boolean {
  return optionsOf(args).some((word) => /^-[^-]/.test(word) && word.slice(1).includes(letter));
}

/** Whether a long option is set. An abbreviation of at least `min` letters counts, too. */
export function hasLong(args: readonly string[], name: string, min = 1): boolean {
  return optionsOf(args).some((word) => {
    if (!word.startsWith('--')) return false;
    const given = word.slice(2).split('=')[0] ?? '';
    return given.length >= min && name.startsWith(given);
  });
}

/** Returns the words that begin with a dash, before a `--`. */
export function optionsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).filter((word) => /^-./.test(word));
}

/** Returns the words that are not options. */
export function operandsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  if (end === -1) return args.filter((word) => !/^-./.test(word));
  return [...args.slice(0, end).filter((word) => !/^-./.test(word)), ...args.slice(end + 1)];
}

/** Returns the values of options, in the same word or in the next. */
export function valuesOf(args: readonly string[], options: readonly string[]): string[] {
  const values: string[] = [];
  for (const [at, word] of args.entries()) {
    for (const option of options) {
      const next = args[at + 1];
      if (option.startsWith('--')) {
        const [given = '', ...rest] = word.split('=');
        if (given.length < 3 || !option.startsWith(given)) continue;
        if (rest.length > 0) values.push(rest.join('='));
        else if (next !== undefined) values.push(next);
      } else if (word.startsWith('-') && !word.startsWith('--')) {
        const letter = word.indexOf(option.slice(1), 1);
        if (letter === -1) continue;
        const inWord = word.slice(letter + 1);
        if (inWord !== '') values.push(inWord);
        if (next !== undefined && inWord === '') values.push(next);
      }
    }
  }
  return values;
}

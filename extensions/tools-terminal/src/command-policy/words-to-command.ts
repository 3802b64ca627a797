import { isMarked } from './marked-text.js';
import type { SimpleCommand } from './simple-command.js';

/** What a command takes over from the one that runs it. */
export type Surroundings = Omit<SimpleCommand, 'name' | 'written' | 'args'>;

/** A command of words; the first is its name. */
export function commandOfWords(words: readonly string[], around: Surroundings): SimpleCommand {
  const [first, ...args] = words;
  return { ...around, name: nameOf(first), written: first ?? '', args };
}

/** The name that rules know a command by: of `/bin/rm`, `rm`. */
export function nameOf(word: string | undefined): string | undefined {
  if (word === undefined) return '';
  if (isMarked(word)) {
    // A program in a home is as well known as any other.
    const name = word.slice(word.lastIndexOf('/') + 1);
    return word.includes('/') && name !== '' && !isMarked(name) ? name : undefined;
  }
  return word.slice(word.lastIndexOf('/') + 1);
}

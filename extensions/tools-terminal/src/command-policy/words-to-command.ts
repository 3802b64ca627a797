import { isMarked } from './marked-text.js';
import type { SimpleCommand } from './simple-command.js';

/** The parts that a command takes over from the command that runs it. */
export type Surroundings = Omit<SimpleCommand, 'name' | 'written' | 'args'>;

/** Makes a command of words. The first one is its name. */
export function commandOfWords(words: readonly string[], around: Surroundings): SimpleCommand {
  const [first, ...args] = words;
  return { ...around, name: nameOf(first), written: first ?? '', args };
}

/** Returns the name of a command for rules: `rm` for `/bin/rm`. */
export function nameOf(word: string | undefined): string | undefined {
  if (word === undefined) return '';
  if (isMarked(word)) {
    // A program in a home is as well known as any other.
    const name = word.slice(word.lastIndexOf('/') + 1);
    return word.includes('/') && name !== '' && !isMarked(name) ? name : undefined;
  }
  return word.slice(word.lastIndexOf('/') + 1);
}

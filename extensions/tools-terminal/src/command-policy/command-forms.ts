import { gitSubcommand } from './rules/git.js';

/** A command as it is written, and without the options that stand before its subcommand. */
export function commandForms(words: readonly string[]): (readonly string[])[] {
  const [name = '', ...args] = words;
  if (name === 'git') return [words, ['git', ...gitSubcommand(args)]];
  return [words];
}

import { gitSubcommand } from './rules/git.js';

/** Returns a command as it is written, and without the options before its subcommand. */
export function commandForms(words: readonly string[]): (readonly string[])[] {
  const [name = '', ...args] = words;
  if (name === 'git') return [words, ['git', ...gitSubcommand(args)]];
  return [words];
}

import type { Command, Redirection } from 'unbash';
import { embedsFetch, inputOf } from './command-input.js';
import { valueText, wordText, wordTexts } from './shell-word.js';
import type { CommandInput, CommandRedirect, SimpleCommand } from './simple-command.js';
import { commandOfWords } from './words-to-command.js';

/** The text around a part of a command line, and the input that the part gets. */
export interface Around {
  source: string;
  input: CommandInput;
}

/** Makes a command of its syntax. The commands in its words are judged on their own. */
export function toSimpleCommand(node: Command, { source, input }: Around): SimpleCommand {
  const words: string[] = [];
  const assignments = [];
  for (const part of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
    if (part.type === 'Word') words.push(...wordTexts(part));
    else if (part.type === 'Assignment') {
      const value = part.value.type === 'Word' ? valueText(part.value) : '';
      // After the name of a command, it is one of its words as well.
      if (words.length > 0) words.push(`${part.name}${part.append ? '+' : ''}=${value}`);
      else
        assignments.push({
          name: part.name,
          value,
          ...(part.append === true && { appends: true }),
        });
    }
  }
  return commandOfWords(words, {
    assignments,
    redirects: redirectsOf(node.redirects),
    input: inputOf(node.redirects, input),
    embedsFetch: words.length > 0 && embedsFetch(node),
    source: source.slice(node.pos, node.end),
  });
}

/** Makes a command of redirections alone, as `{ a; b; } > x` has them. */
export function redirectsOnly(
  redirects: readonly Redirection[],
  { input }: Around,
  source: string,
): SimpleCommand {
  return commandOfWords([], {
    assignments: [],
    redirects: redirectsOf(redirects),
    input,
    embedsFetch: false,
    source,
  });
}

function redirectsOf(redirects: readonly Redirection[]): CommandRedirect[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return [];
    const { target: word, operator } = redirect;
    // The command inside is judged on its own.
    const isProcess = word.parts?.length === 1 && word.parts[0]?.type === 'ProcessSubstitution';
    const target = isProcess ? '/dev/fd/63' : wordText(word);
    if (operator.includes('&') && /^(\d+-?|-)$/.test(target)) return [];
    return [{ reads: operator.includes('<'), writes: operator.includes('>'), target }];
  });
}

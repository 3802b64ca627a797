import { type Command, parse, type Word, type WordPart } from 'unbash';

const INSTEAD =
  'commands of this personality run without a shell: write one command of plain words, and put other characters in quotes';

/** The words of a line that is a single command, or why it is not one. */
type PlainCommand = { words: string[] } | { problem: string };

/** Says why a line is not one command of plain words; `undefined` when it is. */
export function plainProblem(line: string): string | undefined {
  const read = readPlain(line);
  return 'problem' in read ? `${read.problem}; ${INSTEAD}` : undefined;
}

/**
 * Returns the words of a line for which `plainProblem` found no problem. These words are run
 * without a shell, so it does not matter how a shell would read the line.
 */
export function plainWords(line: string): string[] {
  const read = readPlain(line);
  return 'words' in read ? read.words : [];
}

function readPlain(line: string): PlainCommand {
  const { commands, errors } = parse(line);
  if (errors !== undefined && errors.length > 0) return { problem: 'can not be understood' };
  const [statement, ...more] = commands;
  if (statement === undefined) return { problem: 'holds no command' };
  if (more.length > 0) return { problem: 'holds more than one command' };
  if (statement.background === true) return { problem: 'runs in the background' };
  // The comment would be dropped silently, so it is refused.
  if (line.trim().length !== statement.end - statement.pos) {
    return { problem: 'holds more than the command' };
  }
  return statement.command.type === 'Command'
    ? wordsOf(statement.command)
    : { problem: 'is more than one simple command' };
}

function wordsOf({ name, prefix, suffix }: Command): PlainCommand {
  if (prefix.length > 0 || name === undefined) {
    return { problem: 'sets a variable or redirects before the command' };
  }
  const words: string[] = [];
  for (const part of [name, ...suffix]) {
    // After `export` and the like, an assignment is a word; these builtins are not programs.
    if (part.type === 'Assignment') return { problem: 'sets a variable' };
    if (part.type !== 'Word') return { problem: 'redirects' };
    const text = plainText(part);
    if (text === undefined) return { problem: `has \`${part.text}\`, which a shell would expand` };
    words.push(text);
  }
  return words[0] === '' ? { problem: 'has no name' } : { words };
}

function plainText(word: Word): string | undefined {
  if (word.parts === undefined) {
    return EXPANDS.test(word.text) ? undefined : word.value;
  }
  const texts = word.parts.map(plainPart);
  return texts.some((text) => text === undefined) ? undefined : texts.join('');
}

function plainPart(part: WordPart): string | undefined {
  switch (part.type) {
    case 'Literal':
      return EXPANDS.test(part.text) ? undefined : part.value;
    case 'SingleQuoted':
      return part.value;
    case 'DoubleQuoted': {
      const texts = part.parts.map((child) => (child.type === 'Literal' ? child.value : undefined));
      return texts.some((text) => text === undefined) ? undefined : texts.join('');
    }
    default:
      return undefined;
  }
}

/**
 * Matches a tilde at the beginning, or text that the parser shows as plain although a shell may
 * expand it.
 */
const EXPANDS = /^~|(^|[^\\])[`$*?[\]{}<>()|&;]/;

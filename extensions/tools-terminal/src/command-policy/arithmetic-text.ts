import { forEachChild, type ParsedScript, type SyntaxNode, type Word, type WordPart } from 'unbash';
import { readsAsText } from './tame-commands.js';

/*
 * The text that bash would take for a number, or for the name of a variable. Expansions of
 * variables stay as they are written; `RUNS` stands for what only running tells.
 */

/** The mark for text that bash may run when it evaluates it. */
export const RUNS = '`';

/**
 * Returns what the output of a substitution means in arithmetic: `RUNS`, or text that is no less
 * dangerous.
 */
export type OutputOf = (script: ParsedScript | undefined) => string;

/** Returns a word as arithmetic sees it. */
export function arithmeticText(word: Word, outputOf: OutputOf): string {
  return word.parts === undefined
    ? word.value
    : word.parts.map((part) => partText(part, outputOf)).join('');
}

function partText(part: WordPart, outputOf: OutputOf): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      // A quoted dollar sign is plain text when bash evaluates the result.
      return part.value;
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => partText(child, outputOf)).join('');
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return part.text;
    case 'ArithmeticExpansion':
      return '1';
    case 'CommandExpansion':
      return outputOf(part.script);
    case 'BraceExpansion':
      return readsAsText(part.text) ? part.text : RUNS;
    default:
      return RUNS;
  }
}

/** Returns the text of an arithmetic expression, with its substitutions replaced. */
export function expressionText(text: string, node: SyntaxNode, outputOf: OutputOf): string {
  let found = text;
  const look = (child: SyntaxNode) => {
    if (child.type === 'CommandExpansion' || child.type === 'ArithmeticCommandExpansion') {
      found = found.replace(child.text, () => outputOf(child.script));
    } else if (child.type === 'ArithmeticExpansion') {
      found = found.replace(child.text, '1');
    } else forEachChild(child, look);
  };
  forEachChild(node, look);
  return found;
}

/** The variables that a text reads when bash evaluates it, and whether it runs something. */
export interface Reads {
  /** Whether the text has something that bash would run. */
  runs: boolean;
  /** The variables whose values bash evaluates, too. `@` stands for all positional parameters. */
  names: readonly string[];
}

/** Matches `$#`, `$?` and lengths. Their values are always numbers. */
const COUNT = /\$(?:\{#(?:\w+|[@*])(?=\[|\})|\{?[#?$!-])/g;
/** Matches a variable, with or without a subscript or a plain default. */
const VALUE = /\$(?:\{(\w+|[@*])(?=\[|\}|:?-\w*\})|([A-Za-z_]\w*|\d|[@*]))/g;

/** Returns the value of a variable to which a text is appended. */
export function appended(name: string, text: string): string {
  return `$\{${name}}${text}`;
}

/** Returns a text as arithmetic reads it: without quotes and without continued lines. */
export function unquoted(text: string): string {
  return text.replaceAll('\\\n', '').replaceAll(/\$(?=['"])|['"\\]/g, '');
}

/** Finds the variables that a text reads, and whether it runs something. */
export function readsOf(text: string): Reads {
  const names: string[] = [];
  const bare = unquoted(text)
    .replaceAll(COUNT, ' ')
    .replaceAll(VALUE, (_, braced?: string, plain?: string) => {
      const name = braced ?? plain ?? '';
      names.push(/^(\d+|[@*])$/.test(name) ? '@' : name);
      return ' ';
    });
  names.push(...(bare.match(/(?<![\w])[A-Za-z_]\w*/g) ?? []));
  return { runs: /[`$]/.test(bare), names };
}

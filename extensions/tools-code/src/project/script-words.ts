/** A word of a command line, without its quotes, and its place in the text. */
export interface Word {
  text: string;
  start: number;
  end: number;
}

/** One command of a script. */
export interface CommandText {
  text: string;
  words: readonly Word[];
  /** The operator between the command and the one before it; empty for the first one. */
  joint: '' | '&&' | '||' | ';' | '|' | '&';
}

const JOINT = /^(?:&&|\|\||;|\n|\||&(?!>))/;
/** Syntax that only a shell can interpret. */
const NEEDS_A_SHELL = /[`()<>]/;

/**
 * Splits a script into its commands, without running it. Returns `undefined` when only a shell
 * could do that: for a substitution, a group, a redirection or a comment.
 */
export function commandsIn(script: string): CommandText[] | undefined {
  const commands: CommandText[] = [];
  let joint: CommandText['joint'] = '';
  let begin = 0;
  let words: Word[] = [];
  let word: Word | undefined;
  const endWord = (at: number) => {
    if (word !== undefined) words.push({ ...word, end: at });
    word = undefined;
  };
  const endCommand = (at: number) => {
    endWord(at);
    const shift = begin;
    const shifted = words.map(({ text, start, end }) => ({
      text,
      start: start - shift,
      end: end - shift,
    }));
    if (words.length > 0) commands.push({ text: script.slice(begin, at), words: shifted, joint });
    words = [];
  };
  for (let at = 0; at < script.length; ) {
    const rest = script.slice(at);
    const char = script.charAt(at);
    const found = JOINT.exec(rest)?.[0];
    if (found !== undefined) {
      endCommand(at);
      joint = found === '\n' ? ';' : jointOf(found);
      at += found.length;
      begin = at;
    } else if (/\s/.test(char)) {
      endWord(at);
      at += 1;
    } else if (NEEDS_A_SHELL.test(char) || (char === '#' && word === undefined)) {
      return undefined;
    } else {
      const part = partOf(rest);
      if (part === undefined) return undefined;
      word ??= { text: '', start: at, end: at };
      word.text += part.text;
      at += part.length;
    }
  }
  endCommand(script.length);
  return commands;
}

function jointOf(text: string): CommandText['joint'] {
  return text === '&&' || text === '||' || text === '|' || text === '&' ? text : ';';
}

/**
 * Returns the next piece of a word; `undefined` for a quote that is not closed, or that has
 * commands.
 */
function partOf(rest: string): { text: string; length: number } | undefined {
  const [quote = ''] = rest;
  if (quote === '\\') return { text: rest.charAt(1), length: Math.min(2, rest.length) };
  if (quote !== '"' && quote !== "'") return { text: quote, length: 1 };
  const close = rest.indexOf(quote, 1);
  const text = rest.slice(1, close);
  if (close === -1 || (quote === '"' && /[`\\]|\$\(/.test(text))) return undefined;
  return { text, length: close + 1 };
}

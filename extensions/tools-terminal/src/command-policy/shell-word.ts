import type { Word, WordPart } from 'unbash';
import { GLOB, HOME, SEARCH_PATH, SPLIT, UNKNOWN } from './marked-text.js';

const MAX_WORDS = 64;
const ASSIGNING = /^[A-Za-z_]\w*\+?=/;
const PLAIN_LIST = /^\{[^{}'"`$\\]*,[^{}'"`$\\]*\}$/;

/** Returns the words that a word of a command becomes, with marks for the unknown parts. */
export function wordTexts(word: Word): string[] {
  if (word.parts === undefined) return [withTildes(word.text, word.value)];
  let texts = [''];
  const [first] = word.parts;
  const assigns = first?.type === 'Literal' && ASSIGNING.test(first.text);
  for (const [index, part] of word.parts.entries()) {
    const next = assigns ? textsOfAssigning(part, texts[0] ?? '') : textsOf(part, index === 0);
    if (texts.length * next.length > MAX_WORDS) return [SPLIT];
    texts = texts.flatMap((text) => next.map((more) => text + more));
  }
  // An empty word is dropped, unless it is quoted.
  const mayVanish = word.parts.every(({ type }) => type === 'Literal' || type === 'BraceExpansion');
  return mayVanish ? texts.filter((text) => text !== '') : texts;
}

/**
 * Returns the texts of a part in a word `name=value`, which bash reads as the value of an
 * assignment.
 */
function textsOfAssigning(part: WordPart, before: string): string[] {
  const begins = /[=:]$/.test(before);
  if (part.type === 'Literal') {
    return [before === '' ? withTildes(part.text, part.value) : afterColons(part.value)];
  }
  return textsOf(part, begins);
}

/** Returns the value of an assignment, with marks for the unknown parts. */
export function valueText(word: Word): string {
  return afterColons(wordText(word));
}

/** Returns the text of a word that is never split, e.g. the target of a redirection. */
export function wordText(word: Word): string {
  const texts = wordTexts(word);
  return texts.length === 1 ? (texts[0] ?? '') : SPLIT;
}

function textsOf(part: WordPart, isFirst: boolean): string[] {
  switch (part.type) {
    case 'Literal':
      return [isFirst ? withTilde(part.text, part.value) : part.value];
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [
        part.parts
          .map((child) => textsOf(child, false)[0])
          .join('')
          .replaceAll(SPLIT, UNKNOWN),
      ];
    case 'SimpleExpansion':
      return [variable(part.text.slice(1))];
    case 'ParameterExpansion':
      if (part.prefix === '#') return [UNKNOWN];
      return [
        part.prefix === undefined && part.operation === undefined && part.index === undefined
          ? variable(part.parameter)
          : SPLIT,
      ];
    case 'CommandExpansion':
      return [SPLIT];
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return [UNKNOWN];
    case 'Glob':
    case 'ExtendedGlob':
      return [GLOB];
    case 'BraceExpansion':
      return PLAIN_LIST.test(part.text)
        ? part.text
            .slice(1, -1)
            .split(',')
            .map((item) => withTilde(isFirst ? item : '', withGlobs(item)))
        : [SPLIT];
  }
}

function withGlobs(text: string): string {
  return replaceBrackets(text.replaceAll(/[*?]/g, GLOB), GLOB);
}

/** Replaces the bracket expressions of a pattern. Takes linear time. */
export function replaceBrackets(pattern: string, by: string): string {
  // Behind the last one that closes, each that opens would be searched to the end.
  const end = pattern.lastIndexOf(']') + 1;
  return pattern.slice(0, end).replaceAll(/\[[^\]]*\]/g, by) + pattern.slice(end);
}

function variable(name: string): string {
  if (name === 'HOME') return HOME;
  if (name === 'PATH') return SEARCH_PATH;
  return /^[?$!#-]$/.test(name) ? UNKNOWN : SPLIT;
}

/**
 * Does the same as `withTilde`, and also expands a `~` after the `=` and after each `:` of a word
 * `name=value`, as bash does in `dd if=~/x`.
 */
function withTildes(text: string, value: string): string {
  const [assigns = ''] = ASSIGNING.exec(text) ?? [];
  if (assigns === '') return withTilde(text, value);
  const rest = value.slice(assigns.length);
  return assigns + afterColons(withTilde(rest, rest));
}

function afterColons(value: string): string {
  return value.replaceAll(/(?<=:)~[^/:]*/g, (tilde) => withTilde(tilde, tilde));
}

/** Expands `~` and `~name` at the beginning of a word, when they are not quoted. */
function withTilde(text: string, value: string): string {
  if (!text.startsWith('~')) return value;
  const prefix = /^~[^/:]*/.exec(value)?.[0] ?? '~';
  if (prefix === '~+') return `.${value.slice(2)}`;
  if (prefix === '~-') return UNKNOWN + value.slice(2);
  return HOME + value.slice(prefix.length);
}

import type { Command, Redirection, Word, WordPart } from 'unbash';

/* Text that the parser shows as plain, and that bash runs or expands again. */

/** Whether bash reads a word as `{name[subscript]}` of a redirection. */
export function hidesDescriptor({ redirects, prefix, suffix }: Command): boolean {
  return [...prefix, ...suffix].some(
    (part) =>
      part.type === 'Word' &&
      /^\{.*\[.*\}$/s.test(part.text) &&
      redirects.some((redirect) => redirect.pos === part.end),
  );
}

/**
 * Matches `$'…'` with an escape for `$` or for a backquote. In double quotes and in numbers, bash
 * first replaces the escapes, and then runs the substitutions that come out.
 */
const ESCAPED = /\$'(?:[^'\\]|\\.)*?\\(?:x(?:24|60)|0?44|0?140|[uU]0*(?:24|60))/s;

/** Whether arithmetic has quoted substitutions. Bash runs them when they are in a subscript. */
export function hidesInNumbers(text: string): boolean {
  return /\\\$\(|\\`|'[^']*(?:\$\(|`)/.test(text) || ESCAPED.test(text);
}

/**
 * Whether a part of a here-document has a substitution in quotes. Quotes are text there, so bash
 * runs it.
 */
export function hidesInHereDoc(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
    return part.parts.some(hidesInHereDoc);
  }
  return part.type === 'ParameterExpansion' && hidesInNumbers(part.text);
}

/** Whether a part in double quotes has a substitution after `$'`, which bash runs there. */
export function hidesInQuotes(part: WordPart): boolean {
  // The parser shows what stands in these as one text, with its quotes.
  if (/^(BraceExpansion|Glob|ExtendedGlob)$/.test(part.type)) return hidesInExpansion(part.text);
  if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') return false;
  return part.parts.some(
    ({ type, text }) => type === 'ParameterExpansion' && hidesInExpansion(text),
  );
}

function hidesInExpansion(text: string): boolean {
  return /\$'(?:[^'\\]|\\.)*(?:\$[({]|`)/s.test(text) || ESCAPED.test(text);
}

/** Whether bash expands the target of `>&` a second time. It does so when the result is not a number. */
export function expandsTwice({
  operator,
  target,
}: Extract<Redirection, { type: 'Redirect' }>): boolean {
  return operator === '>&' && target !== undefined && /[$`\\*?[{]/.test(target.text);
}

const SUBSTITUTION = /^(?:[^\\]|\\.)*?(?:[<>$]\(|\$\{|`)/s;

/** Whether a word has a substitution that the parser took for text, as in `1<(command)` or `a[ ]$(command)`. */
export function hidesSubstitution({ text, parts }: Word): boolean {
  if (parts === undefined) return SUBSTITUTION.test(text);
  return parts.some((part) => part.type === 'Literal' && SUBSTITUTION.test(part.text));
}

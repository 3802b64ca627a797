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

/** Matches `$'…'` with text that means nothing to a shell, such as `$'\n'`. */
const HARMLESS = /\$'(?:[\w\s.,:;/@%+=-]|\\[abefnrtv])*'/g;

/**
 * Whether an expansion has quotes after `$` that may bring a substitution. In double quotes, in
 * numbers and in here-documents, bash first removes these quotes, and then runs what comes out.
 */
function hidesInExpansion(text: string): boolean {
  return /\$["'\\]/.test(text.replaceAll(HARMLESS, ''));
}

/** Whether arithmetic has quoted substitutions. Bash runs them when they are in a subscript. */
export function hidesInNumbers(text: string): boolean {
  return /\\\$\(|\\`|'[^']*(?:\$\(|`)/.test(text) || hidesInExpansion(text);
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

/** Whether a part in double quotes has a substitution in quotes, which bash runs there. */
export function hidesInQuotes(part: WordPart): boolean {
  // The parser shows what stands in these as one text, with its quotes.
  if (/^(BraceExpansion|Glob|ExtendedGlob)$/.test(part.type)) return hidesInExpansion(part.text);
  if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') return false;
  return part.parts.some(
    ({ type, text }) => type === 'ParameterExpansion' && hidesInExpansion(text),
  );
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

import { isUnknown, maySplit } from './marked-text.js';

/**
 * How certain a match must be when a part of the command is known only at run time: `surely` for a
 * rule that allows, `perhaps` for a rule that asks or denies.
 */
export type MatchMode = 'surely' | 'perhaps';

/**
 * Whether a command matches a pattern such as `git push * --force`.
 *
 * The pattern describes the first words of the command. Any words may follow. A `*` alone stands
 * for any number of words, and a `*` in a word for any characters.
 */
export function matchesPattern(
  pattern: string,
  words: readonly string[],
  mode: MatchMode,
): boolean {
  const tokens = pattern.trim().split(/\s+/);
  // Which beginnings of the pattern match the words so far, from the back.
  let after = tokens.map(() => false).concat(true);
  for (let token = tokens.length - 1; token >= 0; token -= 1) {
    after[token] = tokens[token] === '*' && after[token + 1] === true;
  }
  for (const word of [...words].reverse()) {
    const here = tokens.map(() => false).concat(true);
    for (let at = tokens.length - 1; at >= 0; at -= 1) {
      const token = tokens[at] ?? '';
      if (token === '*') {
        here[at] = here[at + 1] === true || after[at] === true;
      } else if (mode === 'perhaps' && maySplit(word)) {
        here[at] = here[at + 1] === true || after[at] === true || after[at + 1] === true;
      } else {
        here[at] = after[at + 1] === true && matchesWord(token, word, mode);
      }
    }
    after = here;
  }
  return after[0] === true;
}

/** Whether one word matches one word of a pattern. */
export function matchesWord(token: string, word: string, mode: MatchMode): boolean {
  if (mode === 'surely' && maySplit(word)) return false;
  const wild = (character: string) =>
    mode === 'perhaps' && /[\uE000\uE001\uE003\uE004]/.test(character);
  // Both are patterns and may have wildcards: find which parts of one may match the other.
  let row = [true];
  for (let at = 0; at < word.length; at += 1)
    row[at + 1] = row[at] === true && wild(word.charAt(at));
  for (const wanted of token) {
    const next: boolean[] = [wanted === '*' && row[0] === true];
    for (let at = 0; at < word.length; at += 1) {
      const is = word.charAt(at);
      if (wanted === '*') next[at + 1] = row[at + 1] === true || next[at] === true;
      else if (wild(is))
        next[at + 1] = next[at] === true || row[at + 1] === true || row[at] === true;
      else next[at + 1] = row[at] === true && wanted === is;
    }
    row = next;
  }
  return row[word.length] === true;
}

/** Whether a pattern is about setting a variable, like `NODE_ENV=*`. */
export function isAssignmentPattern(pattern: string): boolean {
  return /^\w+\+?=\S*$/.test(pattern.trim());
}

/**
 * Says why a pattern can never match a command; `undefined` when it can. An operator must not rely
 * on a rule that never matches.
 */
export function patternProblem(pattern: string): string | undefined {
  const text = pattern.trim();
  if (text === '') return 'is empty; write the first words of a command';
  if (isUnknown(pattern) || pattern.includes('\0')) return 'holds characters that no command has';
  const [first = '', ...rest] = text.split(/\s+/);
  // Before a file name, the redirection itself is the subject of the rule.
  const own = first === '<' ? rest.join(' ') : text;
  if (/[|&;()<`\n]|\$[({]/.test(own)) {
    return 'holds shell syntax; each command of a line is judged on its own, so write a rule for each';
  }
  if (/["'\\]/.test(text)) return 'is quoted; write the words as they are after quoting';
  if (/^\w+\+?=/.test(first) && rest.length > 0) {
    return 'begins with an assignment; write one rule for it, such as `CI=*`, and one for the command';
  }
  if (first !== '>' && text.includes('>')) {
    return 'redirects; a rule on written files begins with `>` alone, such as `> *.env`';
  }
  return rest.some((word) => word.includes('>'))
    ? 'has a second `>`; write a rule for each file'
    : undefined;
}

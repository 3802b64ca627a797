import { unquoted } from './arithmetic-text.js';
import { UNKNOWN } from './marked-text.js';

const SETS = /\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)/.source;
const ASSIGNS = new RegExp(SETS, 'y');
const ENDS_SUBSCRIPT_AND_ASSIGNS = new RegExp(`\\](?=${SETS})`, 'g');
/** Matches a name, or a text of which a part is expanded. */
const NAME = /[\w$`]+/g;
const STEPPED = /(?:\+\+|--)\s*([\w$`]+)/g;

/**
 * Returns the variables that a text may set when bash evaluates it. Of those with a subscript, it
 * also returns some that the text only reads, since a subscript may have subscripts. Takes linear
 * time.
 *
 * @returns the names; `UNKNOWN` for one that has an expansion
 */
export function assignedIn(text: string): string[] {
  // Braces belong to expansions. What is within them stays, since it may be evaluated, too.
  const bare = unquoted(text).replaceAll(/[{}]/g, '$');
  const assignsAt = (at: number) => {
    ASSIGNS.lastIndex = at;
    return ASSIGNS.test(bare);
  };
  const lastSubscript = [...bare.matchAll(ENDS_SUBSCRIPT_AND_ASSIGNS)].at(-1)?.index ?? -1;
  const words = Array.from(bare.matchAll(STEPPED), ([, word = '']) => word);
  for (const { 0: word, index } of bare.matchAll(NAME)) {
    const end = index + word.length;
    if (bare[end] === '[' ? end < lastSubscript : assignsAt(end)) words.push(word);
  }
  return words.flatMap((word) => {
    if (/[$`]/.test(word)) return [UNKNOWN];
    return /^\d/.test(word) ? [] : [word];
  });
}

/** Matches an expansion, up to the end of its name. */
const PASTED = /\$\{?[!#]?(\w+|[@*])/g;
/** Matches an expansion whose text is that of a variable alone. */
const WHOLE_VALUE = /\$\{#?\w+(?:\[[\w$@*]*\])?\}|\$\w+/g;

/**
 * Returns the variables whose text becomes a part of an evaluated text: what two of them have may
 * become one operator.
 */
export function pastedInto(text: string): string[] {
  return Array.from(unquoted(text).matchAll(PASTED), ([, name = '']) => name);
}

/** Whether a value that becomes a part of `text` adds no operator that sets a variable. */
export function isPlainOperand(value: string, text: string): boolean {
  const own = value.replaceAll(WHOLE_VALUE, ' ');
  if (/^[^=+[\]-]*$/.test(own)) return true;
  return /^[-+]\d+$/.test(own) && !/[-+]\$/.test(unquoted(text));
}

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

/** What a value brings into a text: nothing special, a sign, or what may set a variable. */
export type Operand = 'plain' | 'signed' | 'operator';

/** Returns the worst of what some values may bring into a text. */
export function operandOf(values: readonly string[]): Operand {
  let worst: Operand = 'plain';
  for (const value of values) {
    const own = value.replaceAll(WHOLE_VALUE, ' ');
    if (/^[^=+[\]-]*$/.test(own)) continue;
    if (!/^[-+]\d+$/.test(own)) return 'operator';
    worst = 'signed';
  }
  return worst;
}

/** Whether a text has a sign where a value begins: with another sign they are one operator. */
export function joinsSigns(text: string): boolean {
  return /[-+]\$/.test(unquoted(text));
}

/** Whether a format of `printf` has `%n`, or text that is known only at run time. */
export function hasCount(format: string): boolean {
  return /%[^%A-Za-z$]*[hjlLqtz]*n|`/.test(format.replaceAll('%%', ''));
}

/** Whether the letter of a conversion is the value of a variable, as in `%$x`. */
export function isOpenConversion(format: string): boolean {
  return /%[^%A-Za-z$]*\$/.test(format.replaceAll('%%', ''));
}

/** Returns the names among the operands; `UNKNOWN` for one that bash may expand. */
export function namesAmong(operands: readonly string[]): string[] {
  return operands.flatMap((operand) => {
    if (/[$`*?[{]/.test(operand)) return [UNKNOWN];
    return /^[A-Za-z_]\w*$/.test(operand) ? [operand] : [];
  });
}

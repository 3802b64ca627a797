import {
  foldLookalikes,
  modelTokens,
  roleColons,
  showControls,
  takeStart,
  withoutEscapes,
  withoutInvisible,
} from '@ethosagent/policy';
import { MARKING, tagsOfMarking } from './untrusted/marking-tags.js';

/** Where a text comes from. */
export interface UntrustedOrigin {
  /** A URL, a path or a command. At most 256 characters of it are shown. */
  source: string;
  /** The name of the tool. */
  tool: string;
}

const MAX_ATTRIBUTE_CHARS = 256;
const PLAIN = /^[\t\n\r -~]*$/;

/**
 * Marks a text that an adversary may have written, for the model that reads it:
 * `<untrusted source="https://example.com/" tool="fetch_url">`, the text, `</untrusted>`, each on
 * lines of its own.
 *
 * The text can neither end the mark nor forge another one, in any spelling. The bracket of such a
 * tag becomes `(`, and so does the first character of a chat-template token of the common model
 * families. A role line such as `Human:` after an empty line gets a space before its colon.
 * Terminal escapes and invisible characters are removed, but joiners stay where emoji and scripts
 * need them. Other control characters are shown as pictures. Everything else stays the same, and
 * only role lines make the text longer. To mark a text twice for one origin has the same result as
 * marking it once.
 *
 * @param text what the tool brought
 * @param origin where the text comes from, and the name of the tool
 * @returns the marked text
 */
export function markUntrusted(text: string, { source, tool }: UntrustedOrigin): string {
  const begin = `<${MARKING} source="${attribute(source)}" tool="${attribute(tool)}">\n`;
  const end = `\n</${MARKING}>`;
  const isMarked =
    text.length >= begin.length + end.length && text.startsWith(begin) && text.endsWith(end);
  const content = isMarked ? text.slice(begin.length, -end.length) : text;
  return begin + neutralise(content) + end;
}

function neutralise(text: string): string {
  const visible = PLAIN.test(text)
    ? text
    : withoutInvisible(showControls(withoutEscapes(text.toWellFormed())));
  return edited(visible, editsOf(visible));
}

interface Edit {
  at: number;
  /** How many characters are replaced. */
  length: number;
  text: string;
}

function editsOf(text: string): Edit[] {
  const folded = foldLookalikes(text);
  const edits = new Map<number, Edit>();
  for (const at of modelTokens(folded)) {
    const length = String.fromCodePoint(text.codePointAt(at) ?? 0).length;
    edits.set(at, { at, length, text: '(' });
  }
  for (const { at, length } of tagsOfMarking(text)) edits.set(at, { at, length, text: '(' });
  for (const at of roleColons(folded)) edits.set(at, { at, length: 0, text: ' ' });
  return [...edits.values()].sort((a, b) => a.at - b.at);
}

function edited(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  for (const { at, length, text: replacement } of edits) {
    parts.push(text.slice(done, at), replacement);
    done = at + length;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

const NOT_PLAIN = /[^\w.~:/?#@!$()*+,;=%-]/gu;
const SPOKEN = /^[\p{L}\p{M}\p{N}]/u;

/**
 * Percent-encodes every character that could end an attribute or begin another. Entities are not
 * used, since a reader could decode them to a quote.
 */
function attribute(value: string): string {
  // The part that is cut off below is not examined.
  const start = neutralise(value.slice(0, MAX_ATTRIBUTE_CHARS));
  const encoded = start.replaceAll(NOT_PLAIN, (character) => {
    const isLetter = SPOKEN.test(character) && !/[<>|/:]/.test(foldLookalikes(character));
    if (isLetter) return character;
    return character === "'" ? '%27' : encodeURIComponent(character);
  });
  if (encoded.length <= MAX_ATTRIBUTE_CHARS && value.length <= MAX_ATTRIBUTE_CHARS) return encoded;
  const cut = takeStart(encoded, MAX_ATTRIBUTE_CHARS - 1).replace(/%[0-9A-F]?$/, '');
  return `${cut}…`;
}

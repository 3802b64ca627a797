import { foldLookalikes } from '@ethosagent/policy';
import { decodeEscapes } from './escapes.js';

/** The tag of the marking. */
export const MARKING = 'untrusted';

const SPACE = '[\\s\\p{M}\\p{Cc}\\p{Cf}\\p{DI}]';
const NAME = [...MARKING].join(`${SPACE}*`);
const TAG = new RegExp(`<(?<lead>(?:${SPACE}|[!?/\\\\])*)${NAME}`, 'giu');
const ENDS_OR_GOES_ON = /[\p{M}\p{Cc}\p{Cf}\p{DI}]*(?:[\s"'/>]|$)/uy;
const ENDS_OR_HAS_OUR_ATTRIBUTE = new RegExp(
  `${SPACE}*(?:(?:/${SPACE}*)?>|(?:source|tool)\\b|$)`,
  'iuy',
);

// Quotes around words in honest text, so that they pass for brackets in tags of the marking only.
const OPENING = /[«≪]/g;
const CLOSING = /[»≫]/g;

/** A tag of the marking in a text: where its bracket begins, and how many units it is written with. */
export interface Tag {
  at: number;
  length: number;
}

/** The tags that a reader could take for those of the marking, however they are spelled. */
export function* tagsOfMarking(text: string): Generator<Tag> {
  const { text: decoded, places } = decodeEscapes(text);
  const folded = foldLookalikes(decoded).replace(OPENING, '<').replace(CLOSING, '>');
  for (const { 0: start, index, groups } of folded.matchAll(TAG)) {
    if (!isTag({ decoded, folded }, index + start.length, groups?.lead ?? '')) continue;
    const at = places?.[index] ?? index;
    yield { at, length: (places?.[index + 1] ?? index + 1) - at };
  }
}

function isTag(
  { decoded, folded }: { decoded: string; folded: string },
  end: number,
  lead: string,
): boolean {
  // A closing tag, however it goes on; another name is one that goes on in plain letters.
  if (/[/\\]/.test(lead)) return !/[a-z0-9]/i.test(decoded.charAt(end));
  // An opening tag. Where spaces come before the name, a comparison in a program is none.
  const next = /\s/.test(lead) ? ENDS_OR_HAS_OUR_ATTRIBUTE : ENDS_OR_GOES_ON;
  next.lastIndex = end;
  return next.test(folded);
}

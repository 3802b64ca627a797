import { foldLookalikes, withoutFillers } from '@ethosagent/policy';
import { type Decoded, escapesIn, readingsOf } from './escapes.js';

/** The name of the tag that marks untrusted text. */
export const MARKING = 'untrusted';

// The blank of Braille is not a space in Unicode.
const SPACE = '[\\s\\u2800\\p{M}\\p{Cc}\\p{Cf}\\p{DI}]';
const NAME = [...MARKING].join(`${SPACE}*`);
const TAG = new RegExp(`<(?<lead>(?:${SPACE}|[!?/\\\\])*)${NAME}`, 'giu');
const ENDS_OR_GOES_ON = /[\p{M}\p{Cc}\p{Cf}\p{DI}]*(?:[\s\u2800"'/>]|$)/uy;
const ENDS_OR_HAS_OUR_ATTRIBUTE = new RegExp(
  `${SPACE}*(?:(?:/${SPACE}*)?>|(?:source|tool)\\b|$)`,
  'iuy',
);

// Honest text has these as quotes around words, so they count as brackets only in tags of the
// marking.
const OPENING = /[\xAB\u226A]/g; // « ≪
const CLOSING = /[\xBB\u226B]/g; // » ≫

/**
 * A tag of the marking in a text: where its bracket begins, and how many units the bracket takes.
 */
export interface Tag {
  at: number;
  length: number;
}

// Where an escaped tag may be: the starts of escapes, the characters of escapes, and the characters
// of a tag.
const TANGLE =
  /(?:[&%\\][#\w{};]*|[<>/!?\suntrsed\u2800\p{M}\p{Cc}\p{Cf}\p{DI};\xAB\u226A\xBB\u226B])+/giu;
const WORD = /\w/g;
/** How many characters behind a match are read to decide whether a tag ends there. */
const BEHIND = 40;

/**
 * The tags that a reader could take for those of the marking, in any spelling. If a text has too
 * many readings, every escape.
 */
export function* tagsOfMarking(text: string): Generator<Tag> {
  yield* tagsIn({ text, places: undefined }, 0);
  const folded = withoutFillers(foldLookalikes(text));
  if (!/[&%\\]/.test(folded.text)) return;
  for (const { 0: tangle, index: found } of folded.text.matchAll(TANGLE)) {
    if (!/[&%\\]/.test(tangle) || (tangle.match(WORD) ?? []).length < MARKING.length) continue;
    const index = folded.placeOf(found);
    const part = text.slice(index, folded.placeOf(found + tangle.length) + BEHIND);
    const readings = readingsOf(part);
    if (readings === undefined) {
      for (const at of escapesIn(part)) yield { at: index + at, length: 1 };
    }
    for (const reading of readings?.slice(1) ?? []) yield* tagsIn(reading, index);
  }
}

function* tagsIn({ text, places }: Decoded, offset: number): Generator<Tag> {
  const folded = foldLookalikes(text).replace(OPENING, '<').replace(CLOSING, '>');
  for (const { 0: start, index, groups } of folded.matchAll(TAG)) {
    const end = index + start.length;
    if (!isTag({ decoded: text, folded }, end, groups?.lead ?? '')) continue;
    const { at, length } = writtenAt({ text, places }, index);
    yield { at: offset + at, length };
  }
}

/**
 * The place of a character in the original, and how many units it takes there. One escape may stand
 * for several characters.
 */
function writtenAt({ text, places }: Decoded, index: number): Tag {
  const at = places?.[index] ?? index;
  let next = index + String.fromCodePoint(text.codePointAt(index) ?? 0).length;
  while (places?.[next] === at) next += 1;
  return { at, length: (places?.[next] ?? next) - at };
}

function isTag(
  { decoded, folded }: { decoded: string; folded: string },
  end: number,
  lead: string,
): boolean {
  // A closing tag, whatever follows the name. If plain letters or digits follow, the name is
  // another one.
  if (/[/\\]/.test(lead)) return !/[a-z0-9]/i.test(decoded.charAt(end));
  // An opening tag. If spaces come before the name, it may be a comparison in a program, so it must
  // end or have one of our attributes.
  const next = /[\s\u2800]/.test(lead) ? ENDS_OR_HAS_OUR_ATTRIBUTE : ENDS_OR_GOES_ON;
  next.lastIndex = end;
  return next.test(folded);
}

import { foldLookalikes } from '@ethosagent/policy';

/** A text with escapes decoded, and where each of its units began. */
export interface Decoded {
  text: string;
  /** For each unit of `text`, and for its end, the place in the original. */
  places: Uint32Array | undefined;
}

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  sol: '/',
  bsol: '\\',
  percnt: '%',
  num: '#',
  semi: ';',
  nbsp: ' ',
  tab: '\t',
  newline: '\n',
  shy: '\u00AD',
  zwj: '\u200D',
  zwnj: '\u200C',
};

const ENTITY = `&(?:(?<name>${Object.keys(NAMED).join('|')})|#0*(?<decimal>[1-9][0-9]{0,6})|#x0*(?<entity>[1-9a-f][0-9a-f]{0,5}))`;

/** What one reader decodes in one go. Some readers take an entity without its end for none. */
const FAMILIES: readonly RegExp[] = [
  new RegExp(`${ENTITY};?`, 'gi'),
  new RegExp(`${ENTITY};`, 'gi'),
  new RegExp(
    [
      '(?<bytes>%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3})',
      '%(?:(?<percent>[0-7][0-9a-f])|u(?<unit>[0-9a-f]{4}))',
    ].join('|'),
    'gi',
  ),
  new RegExp(
    [
      // First, as `\\u0000003C` is not told from `\\U0000003C` here.
      '\\\\u(?<long>000[0-9a-f]{5}|0010[0-9a-f]{4})',
      '\\\\u(?:(?<unicode>[0-9a-f]{4})|\\{0*(?<braced>[1-9a-f][0-9a-f]{0,5})\\})',
    ].join('|'),
    'gi',
  ),
  new RegExp(
    [
      // Of style sheets. Its digits are none of an octal escape.
      '\\\\0{0,4}(?<style>3[ce])\\s?',
      '\\\\(?<octal>[0-3][0-7]{2}|[4-7][0-7])',
      '\\\\x(?<hex>[0-9a-f]{2})',
    ].join('|'),
    'gi',
  ),
];
const ANY = new RegExp(
  FAMILIES.map(({ source }) => source.replaceAll(/\?<\w+>/g, '?:')).join('|'),
  'gi',
);
const MAY_BEGIN = /[&%\\＆％＼﹠﹪﹨]/;
const UNSEEN = /^\p{DI}$/u;
/** Passes over a text, before it counts as one that is written to be read in too many ways. */
const MAX_PASSES = 96;

/**
 * What a text says to whoever decodes entities, the escapes of JSON, programs and style sheets, or
 * those of URLs: in whatever layers and order, until nothing is left to decode. What nobody sees and
 * is written as an escape is left out.
 *
 * @returns the text itself first; `undefined` where there are too many readings
 */
export function readingsOf(text: string): Decoded[] | undefined {
  const readings: Decoded[] = [{ text, places: undefined }];
  if (!MAY_BEGIN.test(text)) return readings;
  const known = new Set([text]);
  let passes = 0;
  for (const reading of readings) {
    for (const family of FAMILIES) {
      const next = decodeOnce(reading, family);
      if (next === undefined || known.has(next.text)) continue;
      passes += 1;
      if (passes > MAX_PASSES) return undefined;
      known.add(next.text);
      readings.push(next);
    }
  }
  return readings;
}

/** Where escapes begin in a text as it stands. */
export function* escapesIn(text: string): Generator<number> {
  for (const { index } of foldLookalikes(text).matchAll(ANY)) yield index;
}

function decodeOnce(before: Decoded, family: RegExp): Decoded | undefined {
  const { text } = before;
  const folded = foldLookalikes(text);
  const parts: string[] = [];
  const places = new Uint32Array(text.length + 1);
  let units = 0;
  let done = 0;
  const placeOf = (index: number) => before.places?.[index] ?? index;
  const copyUpTo = (end: number) => {
    parts.push(text.slice(done, end));
    for (let index = done; index < end; index++) places[units++] = placeOf(index);
  };
  for (const match of folded.matchAll(family)) {
    const character = characterOf(match.groups ?? {});
    if (character === undefined) continue;
    copyUpTo(match.index);
    if (!UNSEEN.test(character)) {
      parts.push(character);
      for (let unit = 0; unit < character.length; unit++) places[units++] = placeOf(match.index);
    }
    done = match.index + match[0].length;
  }
  if (done === 0) return undefined;
  copyUpTo(text.length);
  places[units] = placeOf(text.length);
  return { text: parts.join(''), places: places.subarray(0, units + 1) };
}

function characterOf(groups: Record<string, string | undefined>): string | undefined {
  const { name, decimal, octal, bytes } = groups;
  if (name !== undefined) return NAMED[name.toLowerCase()];
  if (bytes !== undefined) return ofBytes(bytes);
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  const { entity, long, style, unicode, braced, hex, percent, unit } = groups;
  const hexadecimal = entity ?? long ?? style ?? unicode ?? braced ?? hex ?? percent ?? unit;
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function ofBytes(bytes: string): string | undefined {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return undefined;
  }
}

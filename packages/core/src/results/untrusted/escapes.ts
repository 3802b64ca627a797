import { foldLookalikes, withoutFillers } from '@ethosagent/policy';
import { characterEntities } from 'character-entities';

/** A text with its escapes decoded, and the original place of each of its units. */
export interface Decoded {
  text: string;
  /** For each unit of `text`, and for its end, the place in the original. */
  places: Uint32Array | undefined;
}

/**
 * Entities that some readers accept without a semicolon, and entities that are written in another
 * case.
 */
const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
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

const NUMBERED = '#0*(?<decimal>[1-9][0-9]{0,6})|#x0*(?<entity>[1-9a-f][0-9a-f]{0,5})';
const OLD_NAMES = `(?<name>${Object.keys(NAMED).join('|')})`;
const ENTITY = `&(?:${OLD_NAMES}|(?<named>[a-z][a-z0-9]{1,31})(?=;)|${NUMBERED})`;
const BYTES =
  '(?<bytes>%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3})|%(?<percent>[0-7][0-9a-f])';
// Its digits can't be part of an octal escape.
const STYLE = '\\\\0{0,4}(?<style>3[ce])\\s?';
// All escapes of style sheets. Their digits may also be octal, so this is a family of its own.
const STYLES = '\\\\(?<style>0{4}[2-7][0-9a-f]|0{0,3}[2-7][0-9a-f](?![0-9a-f]))\\s?';
const OCTAL = '\\\\(?<octal>[0-3][0-7]{2}|[4-7][0-7])';
const JSON_ESCAPE = '\\\\u(?<unicode>[0-9a-f]{4})';
const HEX = '\\\\x(?<hex>[0-9a-f]{2})';
const UNICODE = [
  // Comes first, since matching ignores case: `\\u0000003C` and `\\U0000003C` look the same here.
  '\\\\u(?<long>000[0-9a-f]{5}|0010[0-9a-f]{4})',
  JSON_ESCAPE,
  '\\\\u\\{0*(?<braced>[1-9a-f][0-9a-f]{0,5})\\}',
].join('|');
const UNITS = [STYLE, OCTAL, HEX].join('|');

/**
 * Each pattern is what one kind of reader decodes in one pass. The grouping matters: an escape that
 * is decoded too early may become part of another escape.
 */
const FAMILIES = Object.entries({
  // Some readers ignore an entity without a semicolon, and XML has only five names.
  '&': [`${ENTITY};?`, `${ENTITY};`, `&(?:(?<name>lt|gt|amp|quot|apos)|${NUMBERED});`],
  '%': [`${BYTES}|%u(?<unit>[0-9a-f]{4})`, BYTES],
  '\\': [`${UNICODE}|${UNITS}`, UNICODE, UNITS, JSON_ESCAPE, HEX, OCTAL, STYLE, STYLES],
}).flatMap(([begins, sources]) =>
  sources.map((source) => ({ begins, pattern: new RegExp(source, 'gi') })),
);
const ANY = new RegExp(
  FAMILIES.map(({ pattern }) => pattern.source.replaceAll(/\?<\w+>/g, '?:')).join('|'),
  'gi',
);
// The wide and small forms of the three: ＆％＼﹠﹪﹨. Written as escapes, as in every pattern here: one
// character beyond Latin-1 in a module doubles the memory of its whole source.
const MAY_BEGIN = /[&%\\\uFF06\uFF05\uFF3C\uFE60\uFE6A\uFE68]/;
const UNSEEN = /^\p{DI}$/u;
/** How many passes are made. A text that needs more was written to have too many readings. */
const MAX_PASSES = 96;

/**
 * Everything that a text may say to a reader that decodes entities, the escapes of JSON, of
 * programs and of style sheets, or those of URLs. All layers and orders are tried, until nothing is
 * left to decode. Invisible characters that are written as escapes are left out.
 *
 * @returns the text itself first; `undefined` if there are too many readings
 */
export function readingsOf(text: string): Decoded[] | undefined {
  const readings: Decoded[] = [{ text, places: undefined }];
  if (!MAY_BEGIN.test(text)) return readings;
  const known = new Set([text]);
  let passes = 0;
  for (const reading of readings) {
    for (const spelling of spellingsOf(reading.text))
      for (const { begins, pattern } of FAMILIES) {
        const next = spelling.text.includes(begins)
          ? decodeOnce(reading, spelling, pattern)
          : undefined;
        if (next === undefined || known.has(next.text)) continue;
        passes += 1;
        if (passes > MAX_PASSES) return undefined;
        known.add(next.text);
        readings.push(next);
      }
  }
  return readings;
}

/**
 * The text as a reader sees it, one unit per character: with lookalikes as letters, or as it is.
 */
type Spelling = ReturnType<typeof withoutFillers>;

/**
 * The two spellings may end an escape at different places, e.g. before a character that only looks
 * like a digit.
 */
function spellingsOf(text: string): Spelling[] {
  const folded = foldLookalikes(text);
  const plain: Spelling = { text, placeOf: (index) => index };
  return folded === text ? [plain] : [withoutFillers(folded), plain];
}

/** Where escapes begin in the undecoded text. */
export function* escapesIn(text: string): Generator<number> {
  const folded = withoutFillers(foldLookalikes(text));
  for (const { index } of folded.text.matchAll(ANY)) yield folded.placeOf(index);
}

function decodeOnce(before: Decoded, spelling: Spelling, pattern: RegExp): Decoded | undefined {
  if (spelling.text.search(pattern) < 0) return undefined;
  const { text } = before;
  const parts: string[] = [];
  const places = new Uint32Array(text.length + 1);
  let units = 0;
  let done = 0;
  const placeOf = (index: number) => before.places?.[index] ?? index;
  const copyUpTo = (end: number) => {
    parts.push(text.slice(done, end));
    for (let index = done; index < end; index++) places[units++] = placeOf(index);
  };
  for (const match of spelling.text.matchAll(pattern)) {
    const character = characterOf(match.groups ?? {});
    if (character === undefined) continue;
    const begin = spelling.placeOf(match.index);
    copyUpTo(begin);
    if (!UNSEEN.test(character)) {
      parts.push(character);
      for (let unit = 0; unit < character.length; unit++) places[units++] = placeOf(begin);
    }
    done = spelling.placeOf(match.index + match[0].length);
  }
  if (done === 0) return undefined;
  copyUpTo(text.length);
  places[units] = placeOf(text.length);
  return { text: parts.join(''), places: places.subarray(0, units + 1) };
}

function characterOf(groups: Record<string, string | undefined>): string | undefined {
  const { name, named, decimal, octal, bytes } = groups;
  if (name !== undefined) return NAMED[name.toLowerCase()];
  if (named !== undefined) {
    return Object.hasOwn(characterEntities, named) ? characterEntities[named] : undefined;
  }
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

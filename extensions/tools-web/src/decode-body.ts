import { parseMediaType } from './media-type.js';

const SAMPLE_BYTES = 65_536;
// In a shorter text, a guess by frequencies is worthless. Most unmarked pages are Western European.
const MIN_CONFIDENCE = 25;
// For a text with mostly foreign letters, which is not Western European. Every charset that the bytes
// could be in has a confidence of 10.
const MIN_CONFIDENCE_FOREIGN = 11;
// How much lower the score of a more common charset may be and still win.
const MAX_DOUBT = 6;
const WESTERN: ReadonlySet<string> = new Set(['ISO-8859-1', 'windows-1252']);
const CENTRAL_EUROPEAN: ReadonlySet<string> = new Set(['ISO-8859-2', 'windows-1250']);
const BYTE_ORDER_MARKS = [
  { charset: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { charset: 'utf-32le', mark: [0xff, 0xfe, 0, 0] },
  { charset: 'utf-16le', mark: [0xff, 0xfe] },
  { charset: 'utf-16be', mark: [0xfe, 0xff] },
] as const;
// As browsers read them: https://encoding.spec.whatwg.org/#names-and-labels
const ALIASES: Readonly<Record<string, string>> = {
  'iso-8859-1': 'windows-1252',
  'us-ascii': 'windows-1252',
  ascii: 'windows-1252',
  latin1: 'windows-1252',
  'iso-8859-9': 'windows-1254',
  'tis-620': 'windows-874',
  gb2312: 'gb18030',
  gbk: 'gb18030',
  'x-gbk': 'gb18030',
  'x-sjis': 'shift_jis',
  'ks_c_5601-1987': 'cp949',
  'euc-kr': 'cp949',
  csiso2022jp: 'iso-2022-jp',
};
/** The charsets that the platform decodes. The library, which decodes the others, lacks the second. */
const BY_PLATFORM: ReadonlySet<string> = new Set(['utf-8', 'iso-2022-jp']);

/** A body as text. */
export interface DecodedBody {
  text: string;
  /** The name of the charset in lower case, e.g. `utf-8`. */
  charset: string;
}

/**
 * Decodes a body. The charset comes from the first of these that tells it: the byte order mark, the
 * header, the page itself, valid UTF-8, or how often each byte occurs. What the bytes contradict is
 * passed over: many servers name one charset for all pages, whatever each is written in.
 *
 * @param header the charset that `Content-Type` names
 * @param isMarkup whether to look for `<meta charset>` and the XML declaration
 */
export async function decodeBody(
  bytes: Uint8Array,
  header: string | undefined,
  isMarkup: boolean,
): Promise<DecodedBody> {
  const marked = BYTE_ORDER_MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  if (marked !== undefined) return decodeAs(bytes.subarray(marked.mark.length), marked.charset);
  const declared = await known(header);
  if (declared !== undefined && !isContradicted(declared, bytes)) return decodeAs(bytes, declared);
  const own = isMarkup ? await known(charsetInMarkup(bytes)) : undefined;
  if (own !== undefined && !isContradicted(own, bytes)) return decodeAs(bytes, own);
  const utf8 = decodeUtf8(bytes);
  if (utf8 !== undefined) return { text: utf8, charset: 'utf-8' };
  return decodeAs(bytes, await guess(bytes));
}

/** Whether it is nearly certain that the bytes are not in this charset. */
function isContradicted(charset: string, bytes: Uint8Array): boolean {
  if (charset === 'utf-8') return isMostlyBroken(bytes);
  // Western letters that happen to form valid UTF-8 are not found in real texts.
  return charset === 'windows-1252' && /[^\0-\x7f]/.test(decodeUtf8(bytes) ?? '');
}

/** Finds the charset that the beginning of a page states. */
function charsetInMarkup(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4_096)).toString('latin1');
  const xml = /^\s{0,100}<\?xml[^>]{0,200}encoding\s{0,20}=\s{0,20}["']([\w.:-]+)/i.exec(
    start,
  )?.[1];
  if (xml !== undefined) return xml;
  for (const [tag] of start.matchAll(/<meta\s[^>]{0,1000}>/gi)) {
    const charset = /\scharset\s{0,20}=\s{0,20}["']?\s{0,20}([\w.:-]+)/i.exec(tag)?.[1];
    if (charset !== undefined) return charset;
    const [, quoted, bare] =
      /content\s{0,20}=\s{0,20}(?:["']([^"']{0,200})|([^\s"'>]{1,200}))/i.exec(tag) ?? [];
    const content = quoted ?? bare;
    if (content !== undefined && /http-equiv/i.test(tag)) {
      const { charset: inContent } = parseMediaType(content);
      if (inContent !== undefined) return inContent;
    }
  }
  return undefined;
}

async function known(label: string | undefined): Promise<string | undefined> {
  if (label === undefined) return undefined;
  const name = label.toLowerCase();
  const charset = ALIASES[name] ?? name;
  if (charset === 'utf8') return 'utf-8';
  if (BY_PLATFORM.has(charset)) return charset;
  // The attack: bytes that a filter reads as harmless text, and that become markup in one of these charsets.
  // No honest page uses them.
  if (charset === 'utf-7' || charset === 'utf7' || charset === 'utf-7-imap') return undefined;
  const { default: iconv } = await import('iconv-lite');
  return iconv.encodingExists(charset) && !/^(?:base64|hex|binary|internal)/.test(charset)
    ? charset
    : undefined;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function decodeAs(bytes: Uint8Array, charset: string): Promise<DecodedBody> {
  if (BY_PLATFORM.has(charset)) return { text: new TextDecoder(charset).decode(bytes), charset };
  const { default: iconv } = await import('iconv-lite');
  return { text: iconv.decode(Buffer.from(bytes), charset).toWellFormed(), charset };
}

/**
 * Whether many of the letters beyond ASCII are no UTF-8. A text with only a few such bytes is UTF-8
 * all the same: any other charset would garble the rest.
 */
function isMostlyBroken(bytes: Uint8Array): boolean {
  // A letter that is cut in two at the end does not count.
  const decoder = new TextDecoder('utf-8');
  const lenient = decoder.decode(bytes.subarray(0, SAMPLE_BYTES), { stream: true });
  const foreign = lenient.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const broken = lenient.match(/\ufffd/g)?.length ?? 0;
  return broken > 0 && broken * 4 >= foreign;
}

async function guess(bytes: Uint8Array): Promise<string> {
  if (!isMostlyBroken(bytes)) return 'utf-8';
  const { default: chardet } = await import('chardet');
  const from = Math.max(bytes.findIndex((byte) => byte >= 0x80) - 1_024, 0);
  const sample = withoutTags(bytes.subarray(from, from + SAMPLE_BYTES));
  const guesses = chardet.analyse(sample);
  const western = guesses.find(({ name }) => WESTERN.has(name))?.confidence ?? 0;
  const least = isMostlyForeign(sample) ? MIN_CONFIDENCE_FOREIGN : MIN_CONFIDENCE;
  for (const { name, confidence } of guesses) {
    if (confidence < least) break;
    const isCentral = CENTRAL_EUROPEAN.has(name);
    if (isCentral && western >= confidence - MAX_DOUBT && !hasSignsInWords(sample)) break;
    const charset = await known(name);
    if (charset !== undefined && charset !== 'utf-8') return charset;
  }
  return 'windows-1252';
}

/** Whether most letters are beyond ASCII, as in Cyrillic or Greek texts. */
function isMostlyForeign(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const foreign = text.match(/[\x80-\xff]/g)?.length ?? 0;
  return foreign > (text.match(/[a-z]/gi)?.length ?? 0);
}

/** Returns only the texts with foreign letters. Tags and other text would look like English. */
function withoutTags(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const parts = text
    .replaceAll(/<(?:script|style)[\s>][^<]{0,20000}/gi, '\n')
    .replaceAll(/<[^<>]{0,1000}>/g, '\n')
    .split('\n')
    .filter((part) => /[\x80-\xff]/.test(part));
  return Buffer.from(parts.join('\n'), 'latin1');
}

/**
 * Whether the bytes, read as Western European, have signs within words. Both families have letters
 * at most of the same bytes, so a few foreign letters tell little. Without such signs, Western
 * European is far more likely.
 */
function hasSignsInWords(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  return /[a-z][£¥¦©¬®¯±³µ¶¹¼¾][a-z]|(?<![\da-z])[¹¾][a-z]/i.test(text);
}

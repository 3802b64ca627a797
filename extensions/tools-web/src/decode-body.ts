import { parseMediaType } from './media-type.js';

const SAMPLE_BYTES = 65_536;
// In a shorter text, a guess by frequencies is worthless. Most unmarked pages are Western European.
const MIN_CONFIDENCE = 25;
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
};

/** A body as text. */
export interface DecodedBody {
  text: string;
  /** The name of the charset in lower case, e.g. `utf-8`. */
  charset: string;
}

/**
 * Decodes a body. The charset comes from the first of these that tells it: the byte order mark, the
 * header, the page itself, valid UTF-8, or how often each byte occurs.
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
  if (declared !== undefined) return decodeAs(bytes, declared);
  const own = isMarkup ? await known(charsetInMarkup(bytes)) : undefined;
  if (own !== undefined) return decodeAs(bytes, own);
  const utf8 = decodeUtf8(bytes);
  if (utf8 !== undefined) return { text: utf8, charset: 'utf-8' };
  return decodeAs(bytes, await guess(bytes));
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
    const content = /content\s{0,20}=\s{0,20}["']([^"']{0,200})/i.exec(tag)?.[1];
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
  if (charset === 'utf-8' || charset === 'utf8') return 'utf-8';
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
  if (charset === 'utf-8') return { text: new TextDecoder('utf-8').decode(bytes), charset };
  const { default: iconv } = await import('iconv-lite');
  return { text: iconv.decode(Buffer.from(bytes), charset).toWellFormed(), charset };
}

async function guess(bytes: Uint8Array): Promise<string> {
  const lenient = new TextDecoder('utf-8').decode(bytes.subarray(0, SAMPLE_BYTES));
  const foreign = lenient.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const broken = lenient.match(/\ufffd/g)?.length ?? 0;
  // A few broken bytes, or one cut in two at the end: any other charset would garble the rest.
  if (broken * 4 < foreign) return 'utf-8';
  const { default: chardet } = await import('chardet');
  const from = Math.max(bytes.findIndex((byte) => byte >= 0x80) - 1_024, 0);
  const sample = withoutTags(bytes.subarray(from, from + SAMPLE_BYTES));
  const guesses = chardet.analyse(sample);
  const western = guesses.find(({ name }) => WESTERN.has(name))?.confidence ?? 0;
  for (const { name, confidence } of guesses) {
    if (confidence < MIN_CONFIDENCE) break;
    const isCentral = CENTRAL_EUROPEAN.has(name);
    if (isCentral && western >= confidence - MAX_DOUBT && !hasSignsInWords(sample)) break;
    const charset = await known(name);
    if (charset !== undefined && charset !== 'utf-8') return charset;
  }
  return 'windows-1252';
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

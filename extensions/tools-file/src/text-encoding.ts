import { byteOrderMarkOf, isMostlyUtf8, readByteOrderMark } from '@ethosagent/policy';

const SAMPLE_SIZE = 65_536;
// In shorter texts the frequencies of letters mislead. Western European is then the most likely.
const MIN_FOREIGN_BYTES = 6;
const MIN_CONFIDENCE = 20;

/** How a text is stored as bytes. */
export interface TextFormat {
  /** A name in lower case that `iconv-lite` knows, e.g. `utf-8` or `windows-1252`. */
  encoding: string;
  /** Whether the bytes start with a byte order mark. */
  bom: boolean;
}

/** A decoded text, and how it was stored. */
export interface DecodedText extends TextFormat {
  text: string;
  /**
   * Whether some bytes are invalid in this encoding. The text can't be turned back into such bytes.
   */
  lossy: boolean;
}

/**
 * Detects the encoding of a text and decodes it. It decides by the byte order mark; else by whether
 * the bytes are valid UTF-8; else by the zero bytes of UTF-16; else it guesses from how often each
 * byte occurs.
 *
 * @returns `undefined` when the bytes are not text
 */
export async function decodeText(bytes: Uint8Array): Promise<DecodedText | undefined> {
  const marked = readByteOrderMark(bytes);
  if (marked !== undefined) {
    return decodeAs(bytes.subarray(marked.mark.length), marked.encoding, true);
  }
  if (bytes.includes(0)) {
    const encoding = utf16Pattern(bytes);
    if (encoding === undefined) return undefined;
    const decoded = await decodeAs(bytes, encoding, false);
    return looksLikeText(decoded.text) ? decoded : undefined;
  }
  const utf8 = decodeUtf8(bytes);
  if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8', bom: false, lossy: false };
  const decoded = await decodeByGuess(bytes);
  return looksLikeText(decoded.text) ? decoded : undefined;
}

/**
 * Turns a text into bytes.
 *
 * @returns `undefined` when the encoding has no bytes for a character of the text
 */
export async function encodeText(
  text: string,
  format: TextFormat,
): Promise<Uint8Array | undefined> {
  const start = Buffer.from(format.bom ? byteOrderMarkOf(format.encoding) : []);
  if (format.encoding === 'utf-8') {
    return text.isWellFormed() ? Buffer.concat([start, Buffer.from(text)]) : undefined;
  }
  const { default: iconv } = await import('iconv-lite');
  const body = iconv.encode(text, format.encoding, { addBOM: false });
  if (iconv.decode(body, format.encoding, { stripBOM: false }) !== text) return undefined;
  return Buffer.concat([start, body]);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function decodeAs(bytes: Uint8Array, encoding: string, bom: boolean): Promise<DecodedText> {
  if (encoding === 'utf-8') {
    const text = decodeUtf8(bytes);
    const lossy = text === undefined;
    return { text: text ?? Buffer.from(bytes).toString('utf8'), encoding, bom, lossy };
  }
  const { default: iconv } = await import('iconv-lite');
  const text = iconv.decode(bytes, encoding, { stripBOM: false });
  const lossy = !iconv.encode(text, encoding, { addBOM: false }).equals(bytes);
  return { text, encoding, bom, lossy };
}

async function decodeByGuess(bytes: Uint8Array): Promise<DecodedText> {
  const utf8 = await decodeAs(bytes, 'utf-8', false);
  if (isMostlyUtf8(utf8.text)) return utf8;
  const [{ default: chardet }, { default: iconv }] = await Promise.all([
    import('chardet'),
    import('iconv-lite'),
  ]);
  const from = Math.max(bytes.findIndex(isForeign) - 1_024, 0);
  const sample = bytes.subarray(from, from + SAMPLE_SIZE);
  if (sample.filter(isForeign).length >= MIN_FOREIGN_BYTES) {
    for (const { name, confidence } of chardet.analyse(sample)) {
      if (confidence < MIN_CONFIDENCE || !iconv.encodingExists(name)) continue;
      const decoded = await decodeAs(bytes, name.toLowerCase(), false);
      if (!decoded.lossy) return decoded;
    }
  }
  return decodeAs(bytes, 'windows-1252', false);
}

function isForeign(byte: number): boolean {
  return byte >= 0x80;
}

/**
 * Detects UTF-16 by its zero bytes. Text that is mostly ASCII has a zero in every second byte, and
 * hardly any in the others.
 */
function utf16Pattern(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  const sample = bytes.subarray(0, SAMPLE_SIZE);
  const zeros = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros.map((count) => count / (sample.length / 2));
  if (odd > 0.4 && even < 0.05) return 'utf-16le';
  if (even > 0.4 && odd < 0.05) return 'utf-16be';
  return undefined;
}

/** Whether less than one character in twenty is a control character that text does not use. */
function looksLikeText(text: string): boolean {
  const sample = text.slice(0, SAMPLE_SIZE);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const controls = sample.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g)?.length ?? 0;
  return controls * 20 < Math.max(sample.length, 1);
}

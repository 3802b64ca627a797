import fc from 'fast-check';

const hex = (text: string) => Buffer.from(text).toString('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Reversible ways to encode a secret. */
export const ENCODERS: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  base64,
  'base64 after one byte': (secret) => base64(`:${secret}`),
  'base64 after two bytes': (secret) => base64(`u:${secret}`),
  'base64 after three bytes': (secret) => base64(`us:${secret}`),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  hex,
  'upper-case hex': (secret) => hex(secret).toUpperCase(),
  'percent-encoding': (secret) => encodeURIComponent(secret),
  'percent-encoding of each byte': (secret) => hex(secret).replaceAll(/../g, '%$&'),
  'upper-case percent-encoding': (secret) => hex(secret).toUpperCase().replaceAll(/../g, '%$&'),
  'form-encoding': (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  JSON: (secret) => JSON.stringify(secret).slice(1, -1),
};

/** A realistic secret. */
export const secretValue: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ minLength: 8, maxLength: 60 }),
    fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme' }),
    fc.base64String({ minLength: 8, maxLength: 80 }),
    fc.uuid(),
    fc.stringMatching(/^[A-Za-z0-9_-]{20,64}$/),
  )
  // White space around a secret is not part of it. A text that repeats a single character would
  // match at several places.
  .filter(
    (secret) => secret.isWellFormed() && secret.trim() === secret && new Set(secret).size >= 5,
  );

/** One encoding, or a combination of two. */
export const encoding: fc.Arbitrary<{ name: string; encode: (secret: string) => string }> = fc
  .array(fc.constantFrom(...Object.entries(ENCODERS)), { minLength: 1, maxLength: 2 })
  .map((encoders) => ({
    name: encoders.map(([name]) => name).join(', then '),
    encode: (secret) => encoders.reduce((text, [, encode]) => encode(text), secret),
  }));

/**
 * Whether a text contains the encoded value, or a half of it.
 *
 * @param encoded the text that was inserted
 */
export function hasLeaked(text: string, encoded: string): boolean {
  const half = Math.max(8, Math.ceil(encoded.length / 2));
  for (let start = 0; start + half <= encoded.length; start += 1) {
    if (text.includes(encoded.slice(start, start + half))) return true;
  }
  return encoded.length < half && text.includes(encoded);
}

/** Returns all strings in a value, including keys, one per line. */
export function stringsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, child]) => `${key}\n${stringsIn(child)}`)
    .join('\n');
}

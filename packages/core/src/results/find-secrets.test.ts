import { describe, expect, it } from 'vitest';
import { MAX_DEEP_CHARS } from './find-secrets.js';
import { SecretRedactor } from './redact.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const hex = (text: string) => Buffer.from(text).toString('hex');
const percent = (text: string) => hex(text).replaceAll(/../g, '%$&');
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const lines = (text: string, size: number, end = '\n') =>
  text.replaceAll(new RegExp(`.{${size}}`, 'g'), `$&${end}`);
const entities = (text: string) => Array.from(text, (c) => `&#x${c.codePointAt(0)?.toString(16)};`);

const octal = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
/** In git's quoting of paths. */
const gitQuoted = (text: string) =>
  json(text).replaceAll(/[^\0-\x7f]+/g, (letters) => octal(letters));
const percentU = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16))
    .map((unit) => `%u${unit.padStart(4, '0')}`)
    .join('');
const longEscapes = (text: string) =>
  Array.from(text, (c) => `\\U${c.codePointAt(0)?.toString(16).padStart(8, '0')}`).join('');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

const NAMES: Record<string, string> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  ':': 'colon',
  '@': 'commat',
  _: 'lowbar',
  '#': 'num',
  '!': 'excl',
  '?': 'quest',
  '.': 'period',
  ',': 'comma',
  $: 'dollar',
  '%': 'percnt',
  '*': 'ast',
  '(': 'lpar',
  ')': 'rpar',
  '[': 'lsqb',
  ']': 'rsqb',
  '{': 'lcub',
  '}': 'rcub',
  '\\': 'bsol',
  ';': 'semi',
};
const named = (text: string) =>
  Array.from(text, (c) => (NAMES[c] === undefined ? c : `&${NAMES[c]};`)).join('');

/** The encoders, by their names. */
const ENCODERS: Record<string, (text: string) => string> = {
  'base64 of base64': (text) => base64(base64(text)),
  'base64 of base64 of base64': (text) => base64(base64(base64(text))),
  'base64 of hex': (text) => base64(hex(text)),
  'base64 of upper-case hex': (text) => base64(hex(text).toUpperCase()),
  'base64 of percent-encoding': (text) => base64(encodeURIComponent(text)),
  'base64 of JSON': (text) => base64(JSON.stringify({ key: text })),
  'hex of base64': (text) => hex(base64(text)),
  'hex of hex': (text) => hex(hex(text)),
  'percent-encoding of base64, each byte': (text) => percent(base64(text)),
  'base64 in lines of 20, within more': (text) => lines(base64(`abcdefghijklm${text}nop`), 20),
  'base64 in lines, within JSON': (text) => json(lines(base64(`${'x'.repeat(50)}${text}`), 64)),
  'base64 in lines, with CR LF': (text) => lines(base64(`${'x'.repeat(50)}${text}`), 64, '\r\n'),
  'hex with colons': (text) => hex(text).replaceAll(/..(?=.)/g, '$&:'),
  'hex with spaces': (text) => hex(text).replaceAll(/..(?=.)/g, '$& '),
  'hex in fours': (text) => hex(text).replaceAll(/....(?=.)/g, '$& '),
  'hex as an array of bytes': (text) => hex(text).replaceAll(/..(?=.)/g, '$&, 0x'),
  'hex in mixed case': (text) =>
    hex(text).replaceAll(/[a-f](?=.)/g, (digit) => digit.toUpperCase()),
  'hex after an odd digit': (text) => `f${hex(text)}`,
  '\\x escapes': (text) => hex(text).replaceAll(/../g, '\\x$&'),
  '\\u escapes': (text) =>
    Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16))
      .map((unit) => `\\u${unit.padStart(4, '0')}`)
      .join(''),
  '\\u{} escapes': (text) =>
    Array.from(text, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`).join(''),
  'JSON in JSON': (text) => json(json(text)),
  'JSON in JSON in JSON': (text) => json(json(json(text))),
  'HTML entities': (text) => entities(text).join(''),
  'HTML entities in decimal': (text) => Array.from(text, (c) => `&#${c.codePointAt(0)};`).join(''),
  'escaped HTML': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
  'percent-encoding three times': (text) => [1, 2, 3].reduce((t) => encodeURIComponent(t), text),
  'percent-encoding in mixed case': (text) =>
    percent(text).replaceAll(/[a-f](?=.)/g, (digit) => digit.toUpperCase()),
  'quoted-printable': (text) => hex(text).toUpperCase().replaceAll(/../g, '=$&'),
  'quoted-printable with a soft line break': (text) =>
    `${hex(text).toUpperCase().replaceAll(/../g, '=$&').slice(0, 30)}=\r\n${hex(text).toUpperCase().replaceAll(/../g, '=$&').slice(30)}`,
  'UTF-16, little-endian': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'UTF-16, big-endian': (text) => Buffer.from(text, 'utf16le').swap16().toString('latin1'),
  'octal escapes': octal,
  'octal escapes in JSON': (text) => json(octal(text)),
  '\\U escapes': longEscapes,
  '%u escapes': percentU,
  'named entities': named,
  'named entities in upper case': (text) =>
    named(text).replaceAll(/&[a-z]+;/g, (name) => name.toUpperCase()),
  'HTML entities in hex, with zeros': (text) =>
    Array.from(text, (c) => `&#x00000000${c.codePointAt(0)?.toString(16)};`).join(''),
  'HTML entities in decimal, with zeros': (text) =>
    Array.from(text, (c) => `&#00000000${c.codePointAt(0)};`).join(''),
  'HTML entities without semicolons': (text) =>
    Array.from(text, (c) => `&#${c.codePointAt(0)}`).join(''),
  '\\X escapes': (text) => hex(text).replaceAll(/../g, '\\X$&'),
  'hex in lines of 60, as xxd -p': (text) => lines(hex(`${'x'.repeat(25)}${text}`), 60),
  'hex in lines of 16, indented, within JSON': (text) => json(lines(hex(text), 16, '\r\n\t')),
  'base64 in lines, indented': (text) =>
    lines(base64(`${'x'.repeat(50)}${text}`), 64, '\n        '),
  'base64 in lines, indented by tabs': (text) =>
    lines(base64(`abcdefghijklm${text}nop`), 20, '\r\n\t\t'),
  'base64 in lines, indented, within JSON': (text) =>
    json(lines(base64(`${'x'.repeat(50)}${text}`), 64, '\n    ')),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
};
const SECRETS = {
  'a key': 'sk_live_4f9ZabcDEF0123456789',
  'a secret of signs': 'p&ss"w/rd\\ +<42>%41',
  'a secret of more signs': 'k:e@y_#1!?.,$%*(x)[y]{z}=;/a\\b',
};

describe('SecretRedactor.redact', () => {
  for (const [kind, secret] of Object.entries(SECRETS)) {
    it.each(Object.keys(ENCODERS))(`replaces ${kind} in %s`, (name) => {
      const redactor = new SecretRedactor();
      redactor.add('k', secret);
      const encoded = ENCODERS[name]?.(secret) ?? '';
      const redacted = redactor.redact(`before ${encoded} after`);
      expect(redacted).toMatch(/^before .*\[secret:k\].* after$/s);
      // What is left belongs to the text around the secret.
      const left = redacted.replace('before ', '').replace(' after', '').replace('[secret:k]', '');
      expect(left.length).toBeLessThanOrEqual(encoded.length - secret.length);
      expect(redactor.redact(redacted)).toBe(redacted);
    });
  }

  it.each([0, 1, 2, 3])(
    'replaces a secret in base64 after %i letters of another word',
    (letters) => {
      const redactor = new SecretRedactor();
      redactor.add('k', 'sesame-key-of-the-cave');
      const before = 'x'.repeat(letters);
      const redacted = redactor.redact(`a ${before}${base64('sesame-key-of-the-cave')} b`);
      expect(redacted).toMatch(/^a x{0,3}\[secret:k\] b$/);
    },
  );

  it.each([
    ['hex after a digit of another word', `f${hex('sesame-key')}`, 'f'],
    ['base64 whose padding is percent-encoded', encodeURIComponent(base64('sesame-key')), ''],
  ])('replaces a secret in %s, and nothing else', (_name, encoded, left) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sesame-key');
    expect(redactor.redact(`x ${encoded} y`)).toBe(`x ${left}[secret:k] y`);
  });

  // Words are looked for in pieces of a million characters, which overlap.
  it.each([900_000, 1_000_000, 1_048_570, 1_900_000])(
    'replaces an encoded secret after %i characters where it is',
    (chars) => {
      const redactor = new SecretRedactor();
      redactor.add('k', 'sesame-key-of-the-cave');
      const filler = 'a line. '.repeat(chars / 8).padEnd(chars, '.');
      for (const encode of [base64, hex]) {
        const text = `${filler} ${encode('sesame-key-of-the-cave')} ${filler}`;
        expect(redactor.redact(text) === `${filler} [secret:k] ${filler}`).toBe(true);
      }
    },
  );

  it('takes numbers that are no characters for nothing, and goes on', () => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sesame-key');
    const numbers = String.raw`&#9999999; &#xffffff; \u{110000} \Uffffffff`;
    const redacted = redactor.redact(`${numbers} &#115;esame-key`);
    expect(redacted).toBe(`${numbers} [secret:k]`);
  });

  it.each([
    ['base64', base64],
    ['hex', hex],
    ['percent-encoding', encodeURIComponent],
    ['UTF-8 as bytes', (text: string) => Buffer.from(text).toString('latin1')],
    ['\\u escapes', (text: string) => json(text).replace('ü', '\\u00fc')],
  ])('replaces a secret beyond ASCII in %s', (_name, encode) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'grüße 日本 😀 key');
    expect(redactor.redact(`x ${encode('grüße 日本 😀 key')} y`)).toBe('x [secret:k] y');
  });

  it.each([
    ['octal escapes', octal],
    ["git's quoting", gitQuoted],
    ['\\U escapes', longEscapes],
    ['%u escapes', percentU],
    ['UTF-16, little-endian', (text: string) => utf16(text).toString('latin1')],
    ['UTF-16, big-endian', (text: string) => utf16(text).swap16().toString('latin1')],
    ['base64 of UTF-16', (text: string) => utf16(text).toString('base64')],
    ['hex of big-endian UTF-16', (text: string) => utf16(text).swap16().toString('hex')],
    [
      'percent-encoding of UTF-16',
      (text: string) => utf16(text).toString('hex').replaceAll(/../g, '%$&'),
    ],
  ])('replaces secrets beyond ASCII in %s', (_name, encode) => {
    for (const secret of ['pärole 日本 😀 key', '日本語鍵', 'grüße-ÄÖÜ']) {
      const redactor = new SecretRedactor();
      redactor.add('k', secret);
      expect(redactor.redact(`x ${encode(secret)} y`)).toBe('x [secret:k] y');
    }
  });

  it.each([
    ['\u00a0', 2],
    ['\u00a0', 8],
    ['\u3000', 2],
    ['\u2028', 4],
    ['\v', 2],
    ['\f', 8],
  ])('replaces a secret in hex alone with %j after every %i digits', (space, digits) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sk-live-0123456789abcdef');
    const groups = hex('sk-live-0123456789abcdef').match(new RegExp(`.{${digits}}`, 'g')) ?? [];
    expect(redactor.redact(groups.join(space))).toBe('[secret:k]');
  });

  it.each(['\x7f', '\x1b', '\x01'])('replaces a secret with the control %j, alone', (control) => {
    const secret = `correct${control}horse${control}battery`;
    const redactor = new SecretRedactor();
    redactor.add('k', secret);
    const entities = (text: string) => text.replaceAll(/./gs, (c) => `&#${c.charCodeAt(0)};`);
    for (const encoded of [
      encodeURIComponent(secret),
      entities(secret),
      hex(secret.replaceAll('o', '&#111;')),
    ]) {
      expect(redactor.redact(encoded)).toBe('[secret:k]');
    }
  });

  it('tells \\u with four digits from \\U with eight', () => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'a0041b');
    expect(redactor.redact('x \\u00610041b y \\U000000610041b z')).toBe(
      'x [secret:k] y [secret:k] z',
    );
  });

  it.each([
    ['&num without its semicolon', 'q?a=1&num=5'],
    ['a path of Windows', 'C:\\163\\data'],
  ])('leaves honest text with %s', (_name, text) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sk_live_4f9ZabcDEF');
    expect(redactor.redact(text)).toBe(text);
  });

  it('looks below the first layer at the beginning of a long text, and one layer deep at all of it', () => {
    const secret = 'sk_live 4f9/ZabcDEF';
    const redactor = new SecretRedactor();
    redactor.add('k', secret);
    const once = encodeURIComponent(secret);
    const twice = encodeURIComponent(once);
    const filler = '. '.repeat(MAX_DEEP_CHARS / 2);
    expect(redactor.redact(`${twice} ${filler} ${once} ${secret} ${twice}`)).toBe(
      `[secret:k] ${filler} [secret:k] [secret:k] ${twice}`,
    );
    const depth = { left: 100 };
    expect(redactor.redact(`${twice}`, depth)).toBe('[secret:k]');
    expect(depth.left).toBe(100 - twice.length);
  });

  it.each([
    ['base64', 'QUJD', base64],
    ['hex with colons', '6a:', (text: string) => `${hex(text).replaceAll(/../g, '$&:')}`],
  ])('finds them in words of millions of characters, in %s', (_name, other, encode) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sk_live_4f9ZabcDEF');
    const encoded = encode('sk_live_4f9ZabcDEF');
    // Around the ends of the pieces in which words are searched, and far behind them.
    const places = [0, 917_500, 1_048_570, 8_900_000];
    let text = '';
    for (const place of places) {
      text += other.repeat(Math.ceil((place - text.length) / other.length)) + encoded;
    }
    const found = redactor.redact(text).match(/\[secret:k\]/g);
    expect(found).toHaveLength(places.length);
  });

  it('replaces two secrets that overlap, whole', () => {
    const redactor = new SecretRedactor();
    redactor.add('a', 'abcdefgh');
    redactor.add('b', 'efghijklm');
    expect(redactor.redact('x abcdefghijklm y')).toBe('x [secret:b] y');
  });

  it.each([
    ['reversed', (text: string) => Array.from(text).reverse().join('')],
    ['in another case', (text: string) => text.toUpperCase()],
    ['cut', (text: string) => text.slice(1)],
  ])('does not know a secret that is %s: the limit that the docs name', (_name, change) => {
    const redactor = new SecretRedactor();
    redactor.add('k', 'sk_live_4f9ZabcDEF');
    const text = change('sk_live_4f9ZabcDEF');
    expect(redactor.redact(text)).toBe(text);
  });
});

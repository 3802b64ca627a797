import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyUrl } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { wildValue } from '../testing/wild-values.js';
import { checkShape } from './check-shape.js';
import { redactResult, SecretRedactor } from './redact.js';

function redactor(...secrets: string[]): SecretRedactor {
  const made = new SecretRedactor();
  for (const [at, secret] of secrets.entries()) made.add(`s${at}`, secret);
  return made;
}

const secret = fc
  .string({
    unit: fc.constantFrom(...'abcXYZ019+/=%&\\"\'<>.*$-_ \n', 'é', '😀'),
    minLength: 8,
    maxLength: 40,
  })
  .filter((secret) => secret.trim().length >= 8)
  .map((secret) => secret.trim());
/** Text that can't contain a part of the secrets above by chance. */
const honest = fc.string({
  unit: fc.constantFrom(...'hijklmnopq \n\t{}[]:;,!?#@', 'ü', '漢'),
  maxLength: 60,
});
const forms: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 within a word': (secret) => `hi${Buffer.from(secret).toString('base64')}`,
  hex: (secret) => Buffer.from(secret).toString('hex'),
  percent: encodeURIComponent,
  JSON: (secret) => JSON.stringify(secret),
};

describe('SecretRedactor.redact, whatever the text', () => {
  fuzz(
    'leaves what stands around a secret, marks the secret, and finds nothing in what it made',
    fc.tuple(
      fc.uniqueArray(secret, { minLength: 1, maxLength: 3 }),
      honest,
      fc.constantFrom(...Object.keys(forms)),
      honest,
    ),
    ([secrets, before, form, after]) => {
      const made = redactor(...secrets);
      const [first = ''] = secrets;
      const text = `${before} ${forms[form]?.(first)} ${after}`;
      const redacted = made.redact(text);
      expect(redacted.startsWith(`${before} `)).toBe(true);
      expect(redacted.endsWith(` ${after}`)).toBe(true);
      expect(redacted).toMatch(/\[secret:s\d\]/);
      for (const encode of Object.values(forms)) expect(redacted).not.toContain(encode(first));
      expect(made.redact(redacted)).toBe(redacted);
    },
    { promised: 'secrets', runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'leaves text without a secret as it is',
    fc.tuple(fc.array(secret, { maxLength: 3 }), fc.oneof(honest, fc.base64String(), anyUrl())),
    ([secrets, text]) => {
      if (secrets.some((secret) => text.includes(secret))) return;
      expect(redactor(...secrets).redact(text)).toBe(text);
    },
    { promised: 'secrets' },
  );

  fuzz(
    'never throws for a result that any tool returned',
    fc.tuple(fc.array(secret, { maxLength: 2 }), wildValue),
    ([secrets, make]) => {
      const result = checkShape({ ok: true, value: 'v', structured: { made: make() } });
      expect(typeof redactResult(result, redactor(...secrets)).ok).toBe('boolean');
    },
    { promised: 'batches' },
  );

  const made = redactor('sk-live/4f+9Zé "q\\', 'x'.repeat(2_000), 'a'.repeat(8));
  const HOSTILE: Record<string, (size: number) => string> = {
    'base64 in one word': (size) => 'QUJD'.repeat(size / 4),
    'base64 in lines': (size) => `${'QUJD'.repeat(16)}\n`.repeat(size / 65),
    'base64 in short words': (size) => 'QUJDQUJD '.repeat(size / 9),
    hex: (size) => '6162'.repeat(size / 4),
    'hex with separators': (size) => '61:'.repeat(size / 3),
    'hex with spaces': (size) => '0x61, '.repeat(size / 6),
    percent: (size) => '%61'.repeat(size / 3),
    'percent twice': (size) => '%2561'.repeat(size / 5),
    plus: (size) => '+'.repeat(size),
    'percent of units': (size) => '%u0061'.repeat(size / 6),
    'octal escapes': (size) => '\\163'.repeat(size / 4),
    'long escapes': (size) => '\\U00000073'.repeat(size / 10),
    'open long escapes': (size) => '\\U0000'.repeat(size / 6),
    'named entities': (size) => '&lowbar;'.repeat(size / 8),
    'base64 in indented lines': (size) =>
      `${'QUJD'.repeat(4)}\n${' '.repeat(32)}`.repeat(size / 49),
    'base64 in lines indented too far': (size) =>
      `${'QUJD'.repeat(4)}\n${' '.repeat(33)}`.repeat(size / 50),
    'escapes of every kind': (size) => '%41\\u0041&#65;=41+'.repeat(size / 18),
    backslashes: (size) => '\\'.repeat(size),
    'unicode escapes': (size) => '\\u0061'.repeat(size / 6),
    entities: (size) => '&#97;'.repeat(size / 5),
    'open entities': (size) => '&#0'.repeat(size / 3),
    'quoted-printable': (size) => '=61'.repeat(size / 3),
    'soft line breaks': (size) => '=\r\n'.repeat(size / 3),
    NULs: (size) => 'a\0'.repeat(size / 2),
    'nearly the secret': (size) => 'sk-live/4f+9Z'.repeat(size / 13),
    'the secret, again and again': (size) => 'a'.repeat(size),
    letters: (size) => 'é'.repeat(size),
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (text) => made.redact(text), {
      promised: 'secrets',
      upTo: { check: 16_000, long: 128_000 },
    });
  }
});

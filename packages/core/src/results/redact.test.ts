import { fuzz } from '@ethosagent/conformance/fuzz';
import { cleanText, truncationMarker } from '@ethosagent/policy';
import type { ToolResult } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DEEP_CHARS } from './find-secrets.js';
import { markUntrusted } from './mark-untrusted.js';
import { redactResult, SecretRedactor } from './redact.js';

const SECRET = 'sk-live/4f+9Zé "q\\';
const HEX = Buffer.from(SECRET).toString('hex');

const ORIGIN = { source: 'https://x.test/', tool: 'reads' };

function redactor(...secrets: Array<[ref: string, value: string]>): SecretRedactor {
  const made = new SecretRedactor();
  for (const [ref, value] of secrets) made.add(ref, value);
  return made;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The forms in which a text can contain the secret, by name. */
const FORMS: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  'JSON-escaped': (secret) => JSON.stringify({ key: secret }),
  'JSON-escaped, all characters as \\u': (secret) =>
    `"${Array.from({ length: secret.length }, (_, i) => `\\u${secret.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`,
  base64: base64,
  base64url: base64url,
  'base64, percent-encoded': (secret) => encodeURIComponent(base64(secret)),
  'base64 after 1 byte': (secret) => base64(`u${secret}:rest`),
  'base64 after 2 bytes': (secret) => base64(`us${secret}:rest`),
  'base64 after 3 bytes': (secret) => base64(`usr${secret}:rest`),
  'base64url after 1 byte': (secret) => base64url(`u${secret}:rest`),
  'base64url after 2 bytes': (secret) => base64url(`us${secret}:rest`),
  'base64url after 3 bytes': (secret) => base64url(`usr${secret}:rest`),
  'a Basic auth header': (secret) => `Authorization: Basic ${base64(`admin:${secret}`)}`,
  'hex, lower case': (secret) => Buffer.from(secret).toString('hex'),
  'hex, upper case': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  encodeURIComponent: (secret) => encodeURIComponent(secret),
  'encodeURIComponent, lower case': (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (escaped) => escaped.toLowerCase()),
  'encodeURIComponent twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  encodeURI: (secret) => encodeURI(secret),
  'percent, every byte': (secret) => Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&'),
  'percent, every byte, upper case': (secret) =>
    Buffer.from(secret).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  'form-encoded': (secret) => new URLSearchParams({ key: secret }).toString(),
  'the query of a URL': (secret) =>
    new URL(`https://example.com/?key=${encodeURI(secret).replaceAll('#', '%23')}`).href,
};

/** What stands between two characters of the secret, and is taken out of what a model reads. */
const BETWEEN: Record<string, string> = {
  'a zero-width space': '\u200b',
  'a soft hyphen': '\u00ad',
  'the colours of grep': '\u001b[m\u001b[K\u001b[01;31m\u001b[K',
  'a link of a terminal': '\u001b]8;;https://x.test/\u0007',
  'a C1 control': '\u0085',
  'a DEL': '\u007f',
  'a tag': '\u{e0061}',
  'a variation selector': '\ufe0f',
};

/** Whether a text still contains the secret, or decodes to it. */
function survives(text: string, secret: string): boolean {
  const decoders: Array<(text: string) => string> = [
    (t) => t,
    (t) =>
      t.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    (t) => t.replaceAll(/\\(["\\/])/g, '$1'),
    (t) => percentDecoded(t),
    (t) => percentDecoded(percentDecoded(t)),
    (t) => percentDecoded(t.replaceAll('+', ' ')),
  ];
  if (decoders.some((decode) => decode(text).includes(secret))) return true;
  return (percentDecoded(text).match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).some(
    (word) =>
      Buffer.from(word, 'base64').toString().includes(secret) ||
      Buffer.from(word, 'hex').toString().includes(secret),
  );
}

function percentDecoded(text: string): string {
  return Buffer.from(
    text.replaceAll(/%([0-9a-fA-F]{2})|[^%]|%/gu, (part, hex?: string) =>
      hex === undefined
        ? Buffer.from(part).toString('latin1')
        : String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    'latin1',
  ).toString();
}

function randomText(length: number): string {
  let state = 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 94));
  };
  return Array.from({ length }, next).join('');
}

describe('SecretRedactor.redact', () => {
  it.each(Object.entries(FORMS))('replaces a secret that is %s', (_name, encode) => {
    const text = `before ${encode(SECRET)} after`;
    const redacted = redactor(['providers/x', SECRET]).redact(text);
    expect(survives(text, SECRET)).toBe(true);
    expect(survives(redacted, SECRET)).toBe(false);
    expect(redacted).toContain('[secret:providers/x]');
    expect(redacted).toMatch(/^before .* after$/s);
  });

  it.each([
    ['with a host in capitals', 'https://Hooks.Example.com/T0/B0/key'],
    ['with a scheme in capitals', 'HTTPS://hooks.example.com/T0/B0/key'],
    ['with the default port', 'https://hooks.example.com:443/T0/B0/key'],
    ['with backslashes', 'https:\\\\hooks.example.com\\T0\\B0\\key'],
    ['with a step back', 'https://hooks.example.com/x/../T0/B0/key'],
    ['with a query', 'https://hooks.example.com/T0/B0/key?wait=true'],
    ['with a fragment', 'https://hooks.example.com/T0/B0/key#first'],
    ['with a query and a fragment', 'https://hooks.example.com/T0/B0/key?wait=true#first'],
    ['with a line break', 'https://Hooks.example.com/T0/B0/key\n'],
  ])('replaces the URL of a request to a secret URL %s', (_name, secret) => {
    const { href, origin, pathname, search } = new URL(secret);
    const known = redactor(['hook', secret]);
    for (const shown of [secret, href, `${origin}${pathname}${search}`, `${origin}${pathname}`]) {
      for (const text of [shown, encodeURIComponent(shown), base64(shown)]) {
        expect(known.redact(`to ${text} now`)).toMatch(/^to \[secret:hook\]\s* now$/);
      }
    }
  });

  it('replaces the path of a secret URL, as servers tell it', () => {
    const known = redactor(['hook', 'https://hooks.example.com/services/T0/B0/key?wait=true']);
    for (const path of ['/services/T0/B0/key?wait=true', '/services/T0/B0/key']) {
      expect(known.redact(`Cannot POST ${path}`)).toBe('Cannot POST [secret:hook]');
    }
    const short = redactor(['hook', 'https://hooks.example.com/api/v1']);
    expect(short.redact('Cannot POST /api/v1')).toBe('Cannot POST /api/v1');
  });

  it.each([
    ['names only a host', 'https://hooks.example.com/?key=k', 'https://hooks.example.com/other'],
    ['has a login', 'https://user:pass@Example.com/repo', 'https://example.com/repo'],
  ])('leaves the place of a secret URL that %s', (_name, secret, place) => {
    const known = redactor(['hook', secret]);
    expect(known.redact(`${new URL(secret).href} in ${place}`)).toBe(`[secret:hook] in ${place}`);
  });

  describe.each(Object.entries(BETWEEN))('with %s between its characters', (_name, between) => {
    const ASCII = 'sk-live-4f9Zq81hunter2';
    it.each([
      ['in the middle', (text: string) => `${text.slice(0, 6)}${between}${text.slice(6)}`],
      ['everywhere', (text: string) => [...text].join(between)],
    ])('%s, replaces a secret', (_where, spread) => {
      for (const secret of [ASCII, SECRET]) {
        const known = redactor(['providers/x', secret]);
        for (const form of [secret, base64(secret), encodeURIComponent(secret)]) {
          const marked = markUntrusted(known.redact(`key is ${spread(form)}.`), ORIGIN);
          expect(marked).toMatch(/\nkey is .*\[secret:providers\/x\].*\.\n/s);
          expect(survives(marked, secret)).toBe(false);
          const cleaned = cleanText(known.redact(`key is ${spread(form)}.`), 1_000);
          expect(survives(cleaned, secret)).toBe(false);
        }
      }
    });
  });

  const secrets = fc.oneof(
    fc.string({ minLength: 8, maxLength: 60 }),
    fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme' }),
    fc.base64String({ minLength: 8, maxLength: 60 }),
  );
  const around = fc
    .string({ unit: 'grapheme-ascii', maxLength: 10 })
    .map((t) => t.replaceAll(/[^a-z ]/g, ' '));
  fuzz(
    'leaves no form of a random secret of 8 characters or more',
    fc.tuple(
      secrets.filter((secret) => secret.isWellFormed()),
      fc.constantFrom(...Object.keys(FORMS)),
      around,
      around,
    ),
    ([secret, name, before, after]) => {
      const text = `${before} ${FORMS[name]?.(secret)} ${after}`;
      return !survives(redactor(['r', secret]).redact(text), secret);
    },
    { promised: 'secrets', runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'leaves honest text as it is',
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    (text) => text.includes('zq9!') || redactor(['r', 'zq9!kW2#']).redact(text) === text,
    { promised: 'secrets' },
  );

  it.each([
    ['a text that looks like a pattern', 'a.c', 'abc a.c', 'abc [secret:r]'],
    [
      'a secret of pattern characters',
      '.*+?^${}()|[]\\/-',
      'x .*+?^${}()|[]\\/- y',
      'x [secret:r] y',
    ],
    ['a secret of $&', "$&$1$'", "a $&$1$' b", 'a [secret:r] b'],
    ['an empty secret', '', 'text', 'text'],
    ['a secret with a line break in JSON', 'line1\nline2', '"line1\\nline2"', '"[secret:r]"'],
    ['the same secret twice', 'hunter22', 'hunter22hunter22', '[secret:r][secret:r]'],
  ])('handles %s', (_name, secret, text, redacted) => {
    expect(redactor(['r', secret]).redact(text)).toBe(redacted);
  });

  it('replaces the longer of two secrets of which one is within the other', () => {
    const made = redactor(['short', 'abcdefgh'], ['long', 'abcdefgh-ijkl']);
    expect(made.redact('abcdefgh-ijkl abcdefgh')).toBe('[secret:long] [secret:short]');
  });

  it.each(Object.entries(FORMS))(
    'takes a secret of 10,000 characters that is %s',
    (_name, encode) => {
      const secret = randomText(10_000);
      const redacted = redactor(['pem', secret]).redact(`x ${encode(secret)} y`);
      expect(redacted.replaceAll('[secret:pem]', '').length).toBeLessThan(60);
      expect(redacted).toMatch(/^x .*\[secret:pem\].* y$/s);
    },
  );
});

describe('redactResult, where a secret is not a string', () => {
  it('replaces bytes and numbers that hold it, and leaves others', () => {
    const redactor = new SecretRedactor();
    redactor.add('pin', '48151623');
    const bytes = (text: string) => new Uint8Array(Buffer.from(text));
    const result = redactResult(
      {
        ok: true,
        value: '',
        structured: { a: bytes('x48151623'), b: 48151623, c: bytes('x'), d: 4 },
      },
      redactor,
    );
    expect(result).toEqual({
      ok: true,
      value: '',
      structured: { a: 'x[secret:pin]', b: '[secret:pin]', c: bytes('x'), d: 4 },
    });
  });

  it('replaces what is left of a secret when its line break is taken off', () => {
    const redactor = new SecretRedactor();
    redactor.add('key', 'hunter2hunter2\n');
    expect(redactor.redact('Bearer hunter2hunter2')).toBe('Bearer [secret:key]');
  });
});

describe('redactResult', () => {
  it.each<[string, ToolResult, ToolResult]>([
    ['the value', { ok: true, value: `v ${SECRET}` }, { ok: true, value: 'v [secret:r]' }],
    [
      'an error',
      { ok: false, error: `e ${HEX}`, code: 'execution_failed' },
      { ok: false, error: 'e [secret:r]', code: 'execution_failed' },
    ],
    [
      'strings and keys of structured, at any depth',
      { ok: true, value: 'v', structured: { [SECRET]: [{ a: `x${SECRET}` }], n: 1 }, cost_usd: 2 },
      {
        ok: true,
        value: 'v',
        structured: { '[secret:r]': [{ a: 'x[secret:r]' }], n: 1 },
        cost_usd: 2,
      },
    ],
  ])('replaces secrets in %s, and counts them', (_name, result, expected) => {
    const made = redactor(['r', SECRET]);
    expect(redactResult(result, made)).toEqual(expected);
    expect(made.replaced).toBe(JSON.stringify(expected).split('[secret:r]').length - 1);
  });
});

describe('redactResult, with a budget', () => {
  const note = (chars: number) => truncationMarker(chars);
  const made = redactor(['r', SECRET]);
  const beyond = 8 * made.longestForm;
  const long = (start: string) => start + 'z '.repeat(beyond);

  it.each<[string, string, number, string]>([
    ['cuts a long text, and says how long it was', long(''), 6, 'z z z '],
    ['cuts to nothing', long(''), 0, ''],
    ['keeps surrogate pairs whole', long('ab😀'), 3, 'ab'],
    ['keeps a pair that ends at the cut', long('ab😀'), 4, 'ab😀'],
    ['replaces a secret before the cut', long(`a ${SECRET} `), 20, 'a [secret:r] z z z z'],
    ['replaces a secret across the cut', long(`ab ${SECRET} `), 9, 'ab [secre'],
    ['replaces an encoded secret across the cut', long(`ab ${HEX} `), 15, 'ab [secret:r] z'],
  ])('%s', (_name, text, budget, kept) => {
    expect(redactResult({ ok: true, value: text }, made, budget)).toEqual({
      ok: true,
      value: kept + note(text.length),
    });
    expect(
      redactResult({ ok: false, error: text, code: 'execution_failed' }, made, budget),
    ).toEqual({ ok: false, error: kept + note(text.length), code: 'execution_failed' });
  });

  it('shows no part of a secret at the end of what is looked through, where marks made it short', () => {
    const text = `${SECRET}`.repeat(2_000);
    for (let budget = 100; budget < 400; budget += 7) {
      const result = redactResult({ ok: true, value: text }, made, budget);
      const shown = result.ok ? result.value : '';
      expect(shown.replaceAll('[secret:r]', '')).toMatch(
        /^(?:\[[secrt:]*)?\n\[truncated -- \d+ chars total\]$/,
      );
      expect(shown).not.toMatch(/live|Z|4f/);
    }
  });

  it('cuts after redaction where the text is little longer than the budget', () => {
    expect(redactResult({ ok: true, value: `a ${SECRET} b` }, made, 14)).toEqual({
      ok: true,
      value: 'a [secret:r] b',
    });
    expect(redactResult({ ok: true, value: 'abcdef' }, made, 3)).toEqual({
      ok: true,
      value: `abc${note(6)}`,
    });
  });

  it('does not look through what is cut off anyway', () => {
    const looked: number[] = [];
    class Counting extends SecretRedactor {
      override find(text: string) {
        looked.push(text.length);
        return super.find(text);
      }
    }
    const counting = new Counting();
    counting.add('r', SECRET);
    redactResult({ ok: true, value: long('').repeat(20) }, counting, 100);
    redactResult({ ok: false, error: long('').repeat(20), code: 'execution_failed' }, counting, 7);
    expect(looked).toEqual([100 + beyond, 7 + beyond]);
  });

  it('does not cut structured, and looks through all of it', () => {
    const text = long('') + SECRET;
    const result = redactResult({ ok: true, value: '', structured: { text } }, made, 3);
    expect(result).toEqual({
      ok: true,
      value: '',
      structured: { text: `${long('')}[secret:r]` },
    });
  });

  it('shares how deep it looks between the strings of structured', () => {
    const twice = encodeURIComponent(encodeURIComponent(SECRET));
    const structured = { before: twice, filler: '. '.repeat(MAX_DEEP_CHARS / 2), twice, SECRET };
    expect(redactResult({ ok: true, value: '', structured }, made, 3)).toEqual({
      ok: true,
      value: '',
      structured: { ...structured, before: '[secret:r]', SECRET: '[secret:r]' },
    });
  });
});

import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { parsePersonality } from './personality-parse.js';

const OPTIONS = {
  file: '/h/p/config.yaml',
  id: 'p',
  variables: { ETHOS_HOME: '/h', self: '/h/p', CWD: '/c' },
};

/** The config, or the problems of its refusal. */
function read(text: string): { config: unknown } | { problems: string[] } {
  try {
    return { config: parsePersonality(text, OPTIONS) };
  } catch (error) {
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    return { problems: String(error).split('\n') };
  }
}

const atom = fc.constantFrom(
  ...[
    'name: x\n',
    'description: d\n',
    'toolset: [a]\n',
    'fs_reach:\n',
    '  read: [/a, "${CWD}/b"]\n',
    'safety:\n',
    '  network:\n',
    '    allow: ["*.a.com"]\n',
  ],
  ...[
    '    deny: [evil.com]\n',
    '    allow_private_urls: true\n',
    '  quotas: {per_call: {requests: 1}}\n',
    '  process:\n',
    '    sandbox: required\n',
  ],
  ...[
    '- ',
    '? ',
    ': ',
    ',',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '|\n',
    '>\n',
    '#',
    '&a ',
    '*a',
    '!t ',
    '!!js/function ',
    '<<: *a\n',
    '%YAML 1.1\n',
    '---\n',
    '...\n',
  ],
  ...[
    '\n',
    '\r',
    '\t',
    ' ',
    '  ',
    '\\',
    '@',
    '`',
    '~',
    'null',
    'yes',
    '0x1',
    '1e999',
    '.nan',
    '\u2028',
    '\ufeff',
    '\ud800',
    '\0',
    'é',
    '__proto__: {a: 1}\n',
    'constructor: 1\n',
    '${CWD}/..',
  ],
);
const yaml = fc.oneof(
  fc.array(atom, { maxLength: 20 }).map((atoms) => atoms.join('')),
  anyText({ maxLength: 40 }),
);

const text = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .filter((text) => /\S/u.test(text) && text.isWellFormed());
const path = fc.constantFrom('/', '/a', '/a/b c', '/é', '/#', "/'", '/: x');
const host = fc.constantFrom('a.com', '*.a.com', '*', '127.0.0.1:8080', '::1');
const limit = fc.nat();
const config = fc.record(
  {
    name: text,
    description: fc.string({ unit: 'grapheme' }),
    toolset: fc.array(text, { maxLength: 3 }),
    fs_reach: fc.record({ read: fc.array(path), write: fc.array(path) }, { requiredKeys: [] }),
    safety: fc.record(
      {
        network: fc.record(
          { allow: fc.array(host), deny: fc.array(host), allow_private_urls: fc.boolean() },
          { requiredKeys: [] },
        ),
        process: fc.record(
          { sandbox: fc.constantFrom(true, false, 'required', 'preferred') },
          { requiredKeys: [] },
        ),
        quotas: fc.record(
          {
            per_call: fc.record(
              { requests: limit, bytes_in: limit, store_bytes: limit },
              { requiredKeys: [] },
            ),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    mcp_servers: fc.array(text, { maxLength: 2 }),
    plugins: fc.array(text, { maxLength: 2 }),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
);

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

describe('parsePersonality, whatever the file', () => {
  fuzz(
    'reads a config that a YAML library has written as that library does',
    fc.tuple(
      config,
      fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'BLOCK_LITERAL' as const),
    ),
    ([config, defaultStringType]) => {
      const source = stringify(config, {
        defaultStringType,
        defaultKeyType: 'PLAIN',
        lineWidth: 40,
      });
      // The library itself changes the indentation of some blocks, so the text that it reads
      // counts.
      expect(read(source)).toEqual({ config: { id: 'p', ...parse(source) } });
    },
    { runs: { check: 20, long: 30_000 } },
  );

  fuzz(
    'gives a frozen config of known keys, or CONFIG_INVALID with a place for each problem',
    yaml,
    (source) => {
      const outcome = read(source);
      expect(Object.keys(Object.prototype)).toEqual([]);
      if ('config' in outcome) {
        const known = [
          'id',
          'name',
          'description',
          'toolset',
          'fs_reach',
          'safety',
          'mcp_servers',
          'plugins',
        ];
        expect(Object.keys(Object(outcome.config)).filter((key) => !known.includes(key))).toEqual(
          [],
        );
        return expect(isFrozen(outcome.config)).toBe(true);
      }
      for (const problem of outcome.problems) {
        expect(problem.replace(/^EthosError: CONFIG_INVALID: /, '')).toMatch(
          /^\/h\/p\/config\.yaml:(?:\d+:\d+: .|.and more$)/,
        );
      }
    },
    { runs: { check: 80, long: 50_000 } },
  );

  const HOSTILE: Record<string, (size: number) => string> = {
    'open lists': (size) => '['.repeat(size),
    'closed lists': (size) => '[]'.repeat(size / 2),
    'nested entries': (size) => '- '.repeat(size / 2),
    'nested keys': (size) => 'a: '.repeat(size / 3),
    'deeper and deeper': (size) =>
      Array.from({ length: Math.sqrt(size) }, (_, at) => `${' '.repeat(at)}a:\n`).join(''),
    keys: (size) => Array.from({ length: size / 8 }, (_, at) => `k${at}: 1\n`).join(''),
    'the same key': (size) => 'a: 1\n'.repeat(size / 5),
    anchors: (size) => `a: [${'&a x, '.repeat(size / 6)}]`,
    aliases: (size) => `a: &a x\nb: [${'*a, '.repeat(size / 4)}]`,
    documents: (size) => '---\n'.repeat(size / 4),
    comments: (size) => '#\n'.repeat(size / 2),
    'an open quote': (size) => `name: "${'\\x'.repeat(size / 2)}`,
    'a folded text': (size) => `name: >\n${'  a\n\n'.repeat(size / 5)}`,
    paths: (size) => `name: x\nfs_reach: {read: [${'/a, '.repeat(size / 4)}]}`,
    'paths that are refused': (size) => `name: x\nfs_reach: {read: [${'a, '.repeat(size / 3)}]}`,
  };
  // The file is at most 256 KB.
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes about linear time for ${what}`, inputOf, read, {
      upTo: { check: 2_000, long: 128_000 },
    });
  }
});

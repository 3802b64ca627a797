import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { markUntrusted } from './mark-untrusted.js';

const ORIGIN = { source: 'https://a.example/x', tool: 'fetch_url' };
const BEGIN = '<untrusted source="https://a.example/x" tool="fetch_url">\n';
const END = '\n</untrusted>';

const piece = fc.constantFrom(
  ...[
    '<',
    '</',
    '/',
    '>',
    '"',
    'untrusted',
    'UNTRUSTED',
    'un\u200btrusted',
    '＜',
    '／untrusted＞',
    '&lt;',
    '&#60;/',
    '\\u003c/',
    '%3C/',
  ],
  ...[
    'source="x"',
    ' tool=',
    '\n',
    '\r\n',
    '\t',
    ' ',
    '\u00ad',
    '\u202e',
    '\u{e0041}',
    '\x1b[31m',
    '\x1b]0;t',
    '\x9d',
    '\x07',
    '\0',
    '\ud800',
  ],
  ...[
    '<|im_start|>',
    '[INST]',
    '\n\nHuman:',
    '<tool_call>',
    'a',
    'é',
    '漢',
    '👩\u200d🚀',
    '🏴',
    '1\ufe0f\u20e3',
  ],
);
const text = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  anyText({ maxLength: 30 }),
);

describe('markUntrusted, whatever the text and its origin', () => {
  fuzz(
    'has one marking, which only the end ends; well-formed, and the same when marked again',
    text,
    (text) => {
      const marked = markUntrusted(text, ORIGIN);
      expect(marked.startsWith(BEGIN) && marked.endsWith(END)).toBe(true);
      const content = marked.slice(BEGIN.length, -END.length);
      expect(content).not.toMatch(/<[!?]*untrusted[\s"'/>]/i);
      expect(content).not.toMatch(/<[\s!?]*[/\\][\s/!?\\]*untrusted(?![a-z0-9])/i);
      expect(marked.isWellFormed()).toBe(true);
      expect(content.replaceAll(/[\t\n\r]/g, '')).not.toMatch(/\p{Cc}/u);
      expect(content).not.toMatch(/[\p{Bidi_Control}\u{e0000}-\u{e007e}]/u);
      expect(markUntrusted(marked, ORIGIN)).toBe(marked);
    },
    { promised: 'untrusted', runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'has two attributes that say nothing else',
    fc.tuple(text, text),
    ([source, tool]) => {
      const [first = ''] = markUntrusted('x', { source, tool }).split('\n');
      expect(first).toMatch(/^<untrusted source="[^"<>&\s]{0,256}" tool="[^"<>&\s]{0,256}">$/);
    },
    { promised: 'untrusted', runs: { check: 100, long: 50_000 } },
  );

  fuzz(
    'leaves honest text as it is',
    fc.string({
      unit: fc.constantFrom(...'abc <=>{}[]()|&;:"\'/\\*#`\n\t', 'é', '漢', '😀'),
      maxLength: 80,
    }),
    (honest) => {
      // Texts with a role line or a token of a model are changed, so they don't count here.
      if (/<\||\|>|\[\/?[A-Za-z]+\]|<\/?[a-z]+>/.test(honest)) return;
      expect(markUntrusted(honest, ORIGIN)).toBe(BEGIN + honest + END);
    },
    { promised: 'untrusted' },
  );

  const HOSTILE: Record<string, string> = {
    'open brackets': '<',
    'open brackets and spaces': '< ',
    'closed tags': '</untrusted>',
    'letters of the name': '<u',
    'names that are spread out': '<u\u00ad',
    'slashes after brackets': '</',
    entities: '&lt;',
    'entities of entities': '&amp;',
    'open entities': '&#0',
    escapes: '\\u003c',
    percent: '%3C',
    'terminal escapes': '\x1b[',
    'titles without an end': '\x1b]',
    'titles without an end in one byte': '\x9d',
    'escapes in one byte': '\x9b0',
    'invisible characters': '\u200b',
    joiners: '\u200d',
    'joiners of letters': 'ا\u200d',
    'emoji with joiners': '👩\u200d',
    marks: '\u0301',
    'tags of flags': '🏴\u{e0067}\u{e0062}',
    'tokens of models': '<|',
    'tokens that do not end': '<|im_start',
    bars: '|',
    'square brackets': '[/',
    'role lines': '\n\nHuman:',
    'line breaks': '\n',
    'line breaks and spaces': '\n ',
    fullwidth: '＜',
    spaces: ' ',
  };
  for (const [what, atom] of Object.entries(HOSTILE)) {
    growsLinearly(
      `takes linear time for ${what}`,
      (size) => atom.repeat(size / atom.length),
      (text) => [
        markUntrusted(text, ORIGIN),
        markUntrusted(`<${text}`, { source: text, tool: text }),
      ],
      { promised: 'untrusted', upTo: { check: 16_000, long: 1_024_000 } },
    );
  }
});

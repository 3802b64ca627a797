import { assert, describe, expect, it } from 'vitest';
import { applyHunks } from './apply-hunks.js';
import type { Hunk } from './hunk.js';

function applied(text: string, ...hunks: Hunk[]): string {
  const outcome = applyHunks(text, hunks);
  assert(outcome.ok, JSON.stringify(outcome));
  return outcome.text;
}

describe('applyHunks finds', () => {
  const cases: [name: string, text: string, hunk: Hunk, result: string, tolerance?: string][] = [
    ['an exact text', 'a b c', { search: 'b', replace: 'X' }, 'a X c'],
    ['a text over several lines', 'a\nb\nc\n', { search: 'a\nb', replace: 'x' }, 'x\nc\n'],
    [
      '$& and $1 as they are',
      'cost\n',
      { search: 'cost', replace: "$& $1 $` $' $$" },
      "$& $1 $` $' $$\n",
    ],
    ['a pattern character as it is', 'a.*b', { search: '.*', replace: '+' }, 'a+b'],
    [
      'every occurrence on request',
      'x x x',
      { search: 'x', replace: 'xx', replace_all: true },
      'xx xx xx',
    ],
    [
      'overlapping occurrences once',
      'aaaa',
      { search: 'aa', replace: 'b', replace_all: true },
      'bb',
    ],
    [
      'LF in a CRLF file',
      'a\r\nb\r\nc\r\n',
      { search: 'a\nb', replace: 'x\ny\nz' },
      'x\r\ny\r\nz\r\nc\r\n',
      'line endings',
    ],
    [
      'CRLF in an LF file',
      'a\nb\nc\n',
      { search: 'a\r\nb', replace: 'x\r\ny' },
      'x\ny\nc\n',
      'line endings',
    ],
    ['one line of a CRLF file', 'a\r\nb\r\n', { search: 'b', replace: 'x\ny' }, 'a\r\nx\r\ny\r\n'],
    [
      'a text beside a carriage return that ends no line',
      'a\r\r\nb\r\r\n\rc\r\n',
      { search: 'b', replace: 'x' },
      'a\r\r\nx\r\r\n\rc\r\n',
    ],
    [
      'a text after white space that is no indentation',
      'a\n\u00a0 b\n\rc\n',
      { search: 'b\n\rc', replace: 'x' },
      'a\n\u00a0 x\n',
    ],
    [
      'a leading line break of a CRLF file',
      'a\r\nb\r\n',
      { search: '\nb', replace: '\nx\nb' },
      'a\r\nx\r\nb\r\n',
    ],
    [
      'written-out line endings as they are',
      'a\r\nb\r\n',
      { search: '\r\n', replace: '\n', replace_all: true },
      'a\nb\n',
    ],
    [
      'the endings of its own line in a mixed file',
      'a\nb\r\nc\n',
      { search: 'b', replace: 'x\ny' },
      'a\nx\r\ny\r\nc\n',
    ],
    ['the last line without a final newline', 'a\nb', { search: 'b', replace: 'c' }, 'a\nc'],
    [
      'a missing final newline',
      'a\nb',
      { search: 'b\n', replace: 'c\n' },
      'a\nc',
      'trailing whitespace',
    ],
    [
      'trailing spaces',
      'a  \nb\t\nc\n',
      { search: 'a\nb', replace: 'x' },
      'x\nc\n',
      'trailing whitespace',
    ],
    [
      'another indentation',
      '    if (a) {\n        b();\n    }\n',
      { search: 'if (a) {\n    b();\n}', replace: 'if (a) {\n    c();\n    d();\n}' },
      '    if (a) {\n        c();\n        d();\n    }\n',
      'indentation',
    ],
    [
      'spaces for tabs',
      '\tif (a) {\n\t\tb();\n\t}\n',
      {
        search: '  if (a) {\n    b();\n  }\n',
        replace: '  if (a) {\n    if (b) {\n      c();\n    }\n  }\n',
      },
      '\tif (a) {\n\t\tif (b) {\n\t\t\tc();\n\t\t}\n\t}\n',
      'indentation',
    ],
    [
      'tabs for spaces',
      'x:\n    a:\n        b\n',
      { search: '\ta:\n\t\tb', replace: '\ta:\n\t\tb:\n\t\t\tc' },
      'x:\n    a:\n        b:\n            c\n',
      'indentation',
    ],
    [
      'less indentation than the example',
      'x {\n\t\tdeep\n',
      { search: '    deep', replace: '  up {\n    deep' },
      'x {\n\tup {\n\t\tdeep\n',
      'indentation',
    ],
    [
      'other spacing in a line',
      'foo( a,  b )\n',
      { search: 'foo( a, b )', replace: 'bar(a)' },
      'bar(a)\n',
      'whitespace',
    ],
    ['an emoji next to it', '😀a😀', { search: 'a', replace: 'b' }, '😀b😀'],
  ];
  it.each(cases)('%s', (_name, text, hunk, result, tolerance) => {
    const outcome = applyHunks(text, [hunk]);
    expect(outcome).toMatchObject({ ok: true, text: result });
    if (outcome.ok && tolerance !== undefined) expect(outcome.hunks[0]?.tolerance).toBe(tolerance);
  });

  it.each<[string, string, Hunk, string]>([
    [
      'a search text without its indentation, with the replacement at the columns of the file',
      'f {\n    if (a) {\n        b();\n    }\n}\n',
      { search: 'if (a) {\nb();\n}', replace: '    if (a) {\n        b();\n        c();\n    }' },
      'f {\n    if (a) {\n        b();\n        c();\n    }\n}\n',
    ],
    [
      'tabs for spaces in the search text alone',
      'f {\n    a();\n    b();\n}\n',
      { search: '\ta();\n\tb();', replace: '    a();\n    x();\n    b();' },
      'f {\n    a();\n    x();\n    b();\n}\n',
    ],
    [
      'lines with trailing blanks and other endings, which stay',
      'a  \r\nb\nc\t\n',
      { search: 'a\nb\nc', replace: 'a\nx\nc' },
      'a  \r\nx\nc\t\n',
    ],
    [
      'white space as it is on request',
      '    a;\n    b;\n',
      { search: '    a;\n    b;', replace: 'a;\nb;', exact: true },
      'a;\nb;\n',
    ],
    [
      'a text without a blank line of the file',
      'a {\n\n  b\n  c\n}\n',
      { search: 'a {\n  b\n  c\n}', replace: 'a {\n\n  b\n  d\n}' },
      'a {\n\n  b\n  d\n}\n',
    ],
    [
      'quotes of another shape',
      "a('x');\nb('z');\n",
      { search: 'a(‘x’);\nb(‘z’);', replace: 'a(‘y’);\nb(‘z’);' },
      "a('y');\nb('z');\n",
    ],
  ])('%s', (_what, text, hunk, result) => {
    expect(applied(text, hunk)).toBe(result);
  });

  it('exactly rather than tolerantly where both would match', () => {
    const outcome = applyHunks('  a\na\n', [{ search: '  a\n', replace: '  b\n' }]);
    expect(outcome).toEqual({ ok: true, text: '  b\na\n', hunks: [{ lines: [1] }] });
  });

  it('later hunks in what earlier ones made', () => {
    expect(applied('a', { search: 'a', replace: 'b' }, { search: 'b', replace: 'c' })).toBe('c');
  });

  it('tolerant matches everywhere on request', () => {
    const outcome = applyHunks('\ta;\n  x\n\t\ta;\n', [
      { search: '  a;\n', replace: '  b;\n', replace_all: true },
    ]);
    expect(outcome).toMatchObject({
      ok: true,
      text: '\tb;\n  x\n\t\tb;\n',
      hunks: [{ lines: [1, 3] }],
    });
  });
});

describe('applyHunks refuses', () => {
  const cases: [name: string, text: string, hunk: Hunk, problem: object][] = [
    ['an empty search', 'a', { search: '', replace: 'b' }, { kind: 'empty' }],
    ['a change of nothing', 'a', { search: 'a', replace: 'a' }, { kind: 'no change' }],
    [
      'two places',
      'a\nb\na\n',
      { search: 'a', replace: 'c' },
      { kind: 'ambiguous', lines: [1, 3] },
    ],
    [
      'overlapping places',
      'aaa',
      { search: 'aa', replace: 'b' },
      { kind: 'ambiguous', lines: [1, 1] },
    ],
    [
      'two tolerant places',
      '\ta;\n  x\n\t\ta;\n',
      { search: '  a;\n', replace: 'b' },
      { kind: 'ambiguous', lines: [1, 3], tolerance: 'indentation' },
    ],
    ['a missing text', 'a', { search: 'b', replace: 'c' }, { kind: 'not found' }],
    ['another case', 'A', { search: 'a', replace: 'c' }, { kind: 'not found' }],
    [
      'white space that is not there',
      'a\n\nb',
      { search: '   ', replace: 'c' },
      { kind: 'not found' },
    ],
    [
      'part of a word found tolerantly',
      'max = 1',
      { search: '  x = 1', replace: 'y' },
      { kind: 'not found' },
    ],
    [
      'another nesting',
      'if a:\n    b\n    c\n',
      { search: '  if a:\n    b\n  c\n', replace: 'x\n' },
      { kind: 'unclear', line: 1 },
    ],
  ];
  it.each(cases)('%s', (_name, text, hunk, problem) => {
    expect(applyHunks(text, [hunk])).toEqual({ ok: false, index: 0, problem, text });
  });

  it.each<[string, string, Hunk]>([
    [
      'lost indentation in both',
      'f {\n  a;\n  b;\n}\n',
      { search: 'a;\nb;', replace: 'if (x) {\na;\nb;\n}' },
    ],
    ['a replacement without its indentation', '  a;\n  b;\n', { search: '  a;', replace: 'c;' }],
    ['tabs in a file of spaces', 'f {\n  a;\n}\n', { search: '  a;', replace: '  a;\n\tb;' }],
    ['two ways to move in', 'f {\n    a;\n}\n', { search: '  a;', replace: 'b {\n  a;\n}' }],
    ['lines that would be joined', 'a\nb\n', { search: 'a\n', replace: 'c' }],
  ])('%s rather than guess', (_what, text, hunk) => {
    expect(applyHunks(text, [hunk])).toMatchObject({
      ok: false,
      problem: { kind: 'unclear' },
      text,
    });
  });

  it.each<[string, string, Hunk]>([
    ['a replacement', 'a\n', { search: 'a\n', replace: 'b\n' }],
    ['an insertion, which would be made twice', 'a\nc\n', { search: 'a\n', replace: 'a\nb\n' }],
    ['an insertion into a CRLF file', 'a\r\nc\r\n', { search: 'a\n', replace: 'a\nb\n' }],
    ['a longer line of a CRLF file', 'a\r\nc\r\n', { search: 'a\nc', replace: 'a\nc + 1' }],
    ['an insertion into a file of both', 'a\r\nc\nd\n', { search: 'a\nc\n', replace: 'a\nb\nc\n' }],
    ['a removal', 'a\nb\nc\n', { search: 'a\nb\nc\n', replace: 'a\nc\n' }],
    [
      'a tolerant match',
      '\tif (a) {\n\t\tb();\n\t}\n',
      { search: 'if (a) {\nb();\n}', replace: '\tif (a) {\n\t\tc();\n\t}' },
    ],
  ])('%s that is applied already', (_what, text, hunk) => {
    const once = applied(text, hunk);
    expect(applyHunks(once, [hunk])).toMatchObject({
      ok: false,
      problem: { kind: 'already applied' },
      text: once,
    });
  });

  it('all hunks when the last does not apply, and says which', () => {
    expect(
      applyHunks('a b', [
        { search: 'a', replace: 'x' },
        { search: 'nope', replace: 'y' },
      ]),
    ).toMatchObject({ ok: false, index: 1, problem: { kind: 'not found' } });
  });

  it('a hundred thousand places without comparing them all', () => {
    const outcome = applyHunks('a'.repeat(100_000), [{ search: 'aa', replace: 'b' }]);
    expect(outcome).toMatchObject({ ok: false, problem: { kind: 'ambiguous' } });
  });
});

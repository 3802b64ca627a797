import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { describe, expect, it } from 'vitest';
import { markdownSections } from './markdown-sections.js';

const shortly = (markdown: string) =>
  markdownSections(markdown).sections.map(({ heading, text }) => [heading, text]);

describe('markdownSections', () => {
  it.each<[string, [string, string][]]>([
    ['', [['', '']]],
    ['text', [['', 'text']]],
    [
      '## A\nx\n\n## B\n\ny\n',
      [
        ['', ''],
        ['A', 'x'],
        ['B', 'y'],
      ],
    ],
    [
      '# Top\nx\n## A',
      [
        ['', '# Top\nx'],
        ['A', ''],
      ],
    ],
    [
      '## A\r\nx\r\ny\r\n\r\n## B',
      [
        ['', ''],
        ['A', 'x\ny'],
        ['B', ''],
      ],
    ],
    [
      '## A\rx\r## B\ry',
      [
        ['', ''],
        ['A', 'x'],
        ['B', 'y'],
      ],
    ],
    [
      '\n\n## A\n\n\n  x \n\n',
      [
        ['', ''],
        ['A', '  x'],
      ],
    ],
    [
      '## A ##  \n',
      [
        ['', ''],
        ['A', ''],
      ],
    ],
    [
      '   ## A',
      [
        ['', ''],
        ['A', ''],
      ],
    ],
    ['    ## A', [['', '    ## A']]],
    ['##A', [['', '##A']]],
    ['##', [['', '##']]],
    ['## ##', [['', '## ##']]],
    ['\\## A', [['', '\\## A']]],
    ['### A\n#### B\n# C', [['', '### A\n#### B\n# C']]],
    ['A\n---\nx', [['', 'A\n---\nx']]],
    ['> ## A', [['', '> ## A']]],
    ['- ## A\n  ## B', [['', '- ## A\n  ## B']]],
    [
      '```\n## A\n```\n## B',
      [
        ['', '```\n## A\n```'],
        ['B', ''],
      ],
    ],
    ['~~~\n## A', [['', '~~~\n## A']]],
    [
      '<!--\n## A\n-->\n## B',
      [
        ['', '<!--\n## A\n-->'],
        ['B', ''],
      ],
    ],
    [
      '<div>\n## A\n\n## B',
      [
        ['', '<div>\n## A'],
        ['B', ''],
      ],
    ],
    [
      'x\n## A',
      [
        ['', 'x'],
        ['A', ''],
      ],
    ],
    [
      '- item\n## A',
      [
        ['', '- item'],
        ['A', ''],
      ],
    ],
    [
      '---\nkey: ## x\n---\nx\n## A',
      [
        ['', 'x'],
        ['A', ''],
      ],
    ],
    [
      '---\n## A\n---\n## B',
      [
        ['', ''],
        ['B', ''],
      ],
    ],
    [
      '---\nnot closed\n## A',
      [
        ['', '---\nnot closed'],
        ['A', ''],
      ],
    ],
    [
      '\uFEFF## A\nx',
      [
        ['', ''],
        ['A', 'x'],
      ],
    ],
    [
      '\uFEFF---\na: b\n---\n## A',
      [
        ['', ''],
        ['A', ''],
      ],
    ],
    [
      '## *A* `b`',
      [
        ['', ''],
        ['*A* `b`', ''],
      ],
    ],
    [
      '## A\n1\n## a\n2\n## A (2)\n3',
      [
        ['', ''],
        ['A', '1'],
        ['a (2)', '2'],
        ['A (2) (2)', '3'],
      ],
    ],
    [
      '## A\u2028B\nx',
      [
        ['', ''],
        ['A\u2028B', 'x'],
      ],
    ],
  ])('reads %j', (markdown, expected) => {
    expect(shortly(markdown)).toEqual(expected);
  });

  it('tells where each section is', () => {
    const markdown = '---\na: b\n---\nfirst\n\n## A\nx\n  ## B\ny';
    const { sections } = markdownSections(markdown);
    expect(sections.map(({ start, end }) => markdown.slice(start, end))).toEqual([
      'first\n\n',
      '## A\nx\n',
      '  ## B\ny',
    ]);
    expect(sections.map(({ body, end }) => markdown.slice(body, end))).toEqual([
      'first\n\n',
      'x\n',
      'y',
    ]);
  });

  it.each([
    '>',
    '- ',
    '1. ',
    '`',
    '[',
    '<a',
    '## a\n',
    'a\n===\n',
    '- a\n  - b\n',
    '---\n',
    '\t',
    '\n',
  ])('takes the repetition of %j', (part) => {
    expect(markdownSections(part.repeat(2_000)).sections.length).toBeGreaterThan(0);
  });

  for (const part of ['>', '- ', 'a\n===\n', '## a\n', '---\n', '[a](<']) {
    growsLinearly(
      `takes linear time for the repetition of ${JSON.stringify(part)}`,
      (size) => part.repeat(size / part.length),
      markdownSections,
    );
  }
});

import { applyMemoryChange, DEFAULT_MEMORY_LIMITS } from '@ethosagent/policy';
import { errorCodeOf, type MemoryChange } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { editMarkdown } from './markdown-edit.js';
import { memoryState } from './memory-state.js';

function edited(markdown: string, change: MemoryChange): string {
  const { document, placed } = memoryState(markdown);
  try {
    const after = applyMemoryChange(document.sections, change, DEFAULT_MEMORY_LIMITS);
    return editMarkdown(markdown, placed, after);
  } catch (error) {
    return errorCodeOf(error) ?? String(error);
  }
}

const add = (section: string, text: string): MemoryChange => ({ kind: 'add', section, text });
const replace = (match: string, text: string): MemoryChange => ({ kind: 'replace', match, text });
const remove = (section: string): MemoryChange => ({ kind: 'remove', section });

describe('editMarkdown', () => {
  it.each<[string, MemoryChange, string]>([
    ['', add('A', 'x'), '## A\n\nx\n'],
    ['', add('', 'x'), 'x\n'],
    ['', add('A', ''), '## A\n'],
    ['\uFEFF', add('A', 'x'), '\uFEFF## A\n\nx\n'],
    ['text', add('A', 'x'), 'text\n\n## A\n\nx\n'],
    ['text\n', add('A', 'x'), 'text\n\n## A\n\nx\n'],
    ['text\n\n', add('A', 'x'), 'text\n\n## A\n\nx\n'],
    ['## A', add('A', 'x'), '## A\n\nx\n'],
    ['## A\n', add('A', 'x\ny'), '## A\n\nx\ny\n'],
    ['## A\n## B\n', add('A', 'x'), '## A\n\nx\n\n## B\n'],
    ['## A\r\n\r\nx\r\n', add('A', 'y\nz'), '## A\r\n\r\nx\r\n\r\ny\r\nz\r\n'],
    ['##  A  ##\n*\tx  \n\n\n## B\ny', add('a', 'z'), '##  A  ##\n*\tx\n\nz  \n\n\n## B\ny'],
    ['---\nk: v\n---\n', add('A', 'x'), '---\nk: v\n---\n\n## A\n\nx\n'],
    ['---\nk: v\n---', add('', 'x'), '---\nk: v\n---\nx\n'],
    ['## A\n', add('', 'x'), 'x\n\n## A\n'],
    ['# T\n\n## A\nx\n', add('', 'y'), '# T\n\ny\n\n## A\nx\n'],
    [
      '## A\n\n- one\n- two\n\n## B\n- two',
      { kind: 'replace', section: 'A', match: 'two', text: '2' },
      '## A\n\n- one\n- 2\n\n## B\n- two',
    ],
    ['## A\r\na\r\nb\nc\r\n', replace('b\nc', 'd\ne'), '## A\r\na\r\nd\r\ne\r\n'],
    ['## A\na\r\nb\nc\n', replace('c', 'd'), '## A\na\r\nb\nd\n'],
    ['## A\n\nx\n\n## B\n\ny\n', remove('A'), '## B\n\ny\n'],
    ['## A\n\nx\n\n## B\n\ny\n', remove('B'), '## A\n\nx\n\n'],
    ['# T\n\n## A\n', remove(''), '\n\n## A\n'],
    ['## A\n1\n## A\n2\n', remove('A (2)'), '## A\n1\n'],
    ['## A\n1\n## A\n2\n', remove('A'), '## A\n2\n'],
    ['## A\n1\n## A\n2\n', { kind: 'replace', section: 'a (2)', text: 'x' }, '## A\n1\n## A\nx\n'],
    ['## A\n', add('B', 'a\n## C\nb'), 'VALUE_INVALID'],
    ['## A\n', add('B', '```\n## C\n```'), '## A\n\n## B\n\n```\n## C\n```\n'],
    ['## A\n', add('A', '```\nopen'), 'VALUE_INVALID'],
    ['## A\n', add('A', '<!-- open'), 'VALUE_INVALID'],
    ['', add('A', '~~~'), 'VALUE_INVALID'],
    ['', add('', '<script>'), 'VALUE_INVALID'],
    ['## A\n\n```\nx\n```\n', replace('x\n```', 'x'), 'VALUE_INVALID'],
    [
      '## A\n',
      add('A', '- ```\n  closed with its list'),
      '## A\n\n- ```\n  closed with its list\n',
    ],
    [
      '## A\n',
      add('A', '<div>\nclosed by a blank line'),
      '## A\n\n<div>\nclosed by a blank line\n',
    ],
    // A block that is already open may be written to and closed. Nothing may follow it.
    ['## A\n\n```\nx\n', add('A', 'y'), '## A\n\n```\nx\n\ny\n'],
    ['## A\n\n```\nx\n', add('A', '```'), '## A\n\n```\nx\n\n```\n'],
    ['## A\n\n```\nx\n', add('B', 'y'), 'VALUE_INVALID'],
    ['## A\n## B\n', add('A', '```\nopen'), 'VALUE_INVALID'],
    ['## A\n## B\n', add('A', '<!-- open'), 'VALUE_INVALID'],
    [
      '## A\n## B\n',
      add('A', '### deeper\n> ## quoted'),
      '## A\n\n### deeper\n> ## quoted\n\n## B\n',
    ],
    ['', add('', '---\nk: v\n---'), 'VALUE_INVALID'],
    ['', add('', '\uFEFFx'), 'VALUE_INVALID'],
    ['', add('x #', 'y'), 'VALUE_INVALID'],
    ['## A\n#X# B\n', replace('X', ''), 'VALUE_INVALID'],
    ['## A\n```\nx\n```\n## B\n', replace('```\nx\n```', '```'), 'VALUE_INVALID'],
  ])('of %j by %j is %j', (markdown, change, expected) => {
    expect(edited(markdown, change)).toBe(expected);
  });

  it.each([
    ['## A\n## Open "B"\n\n<!-- x\n', 'section "Open \\"B\\"" opens a code fence or an HTML block'],
    ['```\nx', 'the text before the first heading opens a code fence'],
  ])('names of %j what is open', (markdown, expected) => {
    const { document, placed } = memoryState(markdown);
    const after = applyMemoryChange(document.sections, add('C', 'y'), DEFAULT_MEMORY_LIMITS);
    expect(() => editMarkdown(markdown, placed, after)).toThrow(expected);
  });
});

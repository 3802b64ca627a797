import type { MemoryChange } from '@ethosagent/types';
import { expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { add, type MemoryWorld } from './memory-world.js';

/** What each kind of change makes of a memory, and which it refuses. */
export function changeTests(w: MemoryWorld): void {
  it('read gives no sections for a memory that there is not', async () => {
    const document = await w.memory.read(w.fresh());
    expect(document).toEqual({ sections: [], revision: expect.any(String), sizeChars: 0 });
    expect(await w.memory.versions(w.fresh())).toEqual([]);
    expect(await w.memory.search(w.fresh(), 'anything')).toEqual([]);
  });

  const AB = [add('A', 'one two'), add('B', 'two three')];
  type Row = [string, MemoryChange[], MemoryChange, [string, string][] | string];
  it.each<Row>([
    ['add makes a section', [], add('A', 'x'), [['A', 'x']]],
    [
      'add appends a paragraph',
      AB,
      add('A', 'x'),
      [
        ['A', 'one two\n\nx'],
        ['B', 'two three'],
      ],
    ],
    [
      'add finds a section in another case',
      AB,
      add(' a ', 'x'),
      [
        ['A', 'one two\n\nx'],
        ['B', 'two three'],
      ],
    ],
    [
      'add puts what has no heading first',
      AB,
      add('', 'x'),
      [
        ['', 'x'],
        ['A', 'one two'],
        ['B', 'two three'],
      ],
    ],
    ['add drops blank lines around a text', [], add('A', '\n\n x \n\n'), [['A', ' x']]],
    ['add keeps lines', [], add('A', '- a\r\n- b\n\n### c\nd'), [['A', '- a\n- b\n\n### c\nd']]],
    [
      'replace replaces a section',
      AB,
      { kind: 'replace', section: 'a', text: 'x' },
      [
        ['A', 'x'],
        ['B', 'two three'],
      ],
    ],
    [
      'replace replaces a place',
      AB,
      { kind: 'replace', match: 'three', text: '$& x' },
      [
        ['A', 'one two'],
        ['B', 'two $& x'],
      ],
    ],
    [
      'replace replaces a place of a section',
      AB,
      { kind: 'replace', section: 'B', match: 'two', text: 'x' },
      [
        ['A', 'one two'],
        ['B', 'x three'],
      ],
    ],
    [
      'replace finds over lines',
      [add('A', 'a\nb')],
      { kind: 'replace', match: 'a\r\nb', text: 'c' },
      [['A', 'c']],
    ],
    [
      'replace keeps a section without text',
      [add('A', 'a')],
      { kind: 'replace', section: 'A', text: '' },
      [['A', '']],
    ],
    [
      'replace refuses two places',
      AB,
      { kind: 'replace', match: 'two', text: 'x' },
      'MEMORY_AMBIGUOUS',
    ],
    [
      'replace refuses places that overlap',
      [add('A', 'aaa')],
      { kind: 'replace', match: 'aa', text: 'x' },
      'MEMORY_AMBIGUOUS',
    ],
    [
      'replace refuses a section that is not there',
      AB,
      { kind: 'replace', section: 'C', text: 'x' },
      'MEMORY_NOT_FOUND',
    ],
    [
      'replace refuses a text that is not there',
      AB,
      { kind: 'replace', match: 'Two', text: 'x' },
      'MEMORY_NOT_FOUND',
    ],
    [
      'replace refuses a text of another section',
      AB,
      { kind: 'replace', section: 'A', match: 'three', text: 'x' },
      'MEMORY_NOT_FOUND',
    ],
    [
      'replace refuses a heading as a match',
      AB,
      { kind: 'replace', match: 'A', text: 'x' },
      'MEMORY_NOT_FOUND',
    ],
    [
      'replace refuses neither section nor match',
      AB,
      { kind: 'replace', text: 'x' },
      'VALUE_INVALID',
    ],
    [
      'replace refuses an empty match',
      AB,
      { kind: 'replace', match: '', text: 'x' },
      'VALUE_INVALID',
    ],
    ['remove removes a section', AB, { kind: 'remove', section: 'A' }, [['B', 'two three']]],
    [
      'remove removes a place',
      AB,
      { kind: 'remove', match: 'one ' },
      [
        ['A', 'two'],
        ['B', 'two three'],
      ],
    ],
    [
      'remove removes what has no heading',
      [add('', 'x'), ...AB],
      { kind: 'remove', section: '' },
      [
        ['A', 'one two'],
        ['B', 'two three'],
      ],
    ],
    ['remove refuses two places', AB, { kind: 'remove', match: 't' }, 'MEMORY_AMBIGUOUS'],
    [
      'remove refuses a section that is not there',
      [],
      { kind: 'remove', section: 'A' },
      'MEMORY_NOT_FOUND',
    ],
    ['a heading of two lines is refused', [], add('A\nB', 'x'), 'VALUE_INVALID'],
    [
      'a heading of 10,000 characters is refused',
      [],
      add('x'.repeat(10_000), 'x'),
      'VALUE_INVALID',
    ],
  ])('%s', async (_, before, change, expected) => {
    const scope = await w.made(...before);
    const old = await w.memory.read(scope);
    if (typeof expected === 'string') {
      expect(await codeOf(w.memory.change(scope, change))).toBe(expected);
      expect(await w.memory.read(scope)).toEqual(old);
      return;
    }
    const answer = await w.memory.change(scope, change);
    expect(answer.sections).toEqual(expected.map(([heading, text]) => ({ heading, text })));
    expect(await w.memory.read(scope)).toEqual(answer);
    const chars = expected.reduce((sum, [a, b]) => sum + a.length + b.length, 0);
    expect(answer.sizeChars).toBe(chars);
    expect(answer.revision).not.toBe(old.revision);
  });

  it('a text far too large is MEMORY_TOO_LARGE, and changes nothing', async () => {
    const scope = await w.made(add('A', 'x'));
    const huge = 'word '.repeat(2_000_000);
    expect(await codeOf(w.memory.change(scope, add('A', huge)))).toBe('MEMORY_TOO_LARGE');
    expect(await w.sectionsOf(scope)).toEqual([{ heading: 'A', text: 'x' }]);
  });
}

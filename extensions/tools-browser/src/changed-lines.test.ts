import { describe, expect, it } from 'vitest';
import { changedLines } from './changed-lines.js';

const many = (from: number) => Array.from({ length: 20 }, (_, n) => `  - button "b" kq${from + n}`);
const BEFORE = [
  '- main kq1',
  ' - form kq2',
  '  - textbox "Name" kq3',
  ...many(10),
  ' - paragraph: "old"',
];

describe('changedLines', () => {
  it('shows a new line below what holds it, a changed one as it is now, and a text that is gone', () => {
    const after = [...BEFORE];
    after[2] = '  - textbox "Name" kq3: "Ada"';
    after.splice(3, 0, '  - alert kq40: "taken"');
    after[after.length - 1] = ' - paragraph: "new"';
    expect(changedLines(BEFORE, after)).toEqual([
      '  - form kq2',
      '+  - textbox "Name" kq3: "Ada"',
      '+  - alert kq40: "taken"',
      ' - main kq1',
      '- - paragraph: "old"',
      '+ - paragraph: "new"',
    ]);
  });

  it('counts a line as the same where the focus alone differs', () => {
    const after = BEFORE.map((line) => line.replace('kq3', 'kq3 [active]'));
    expect(changedLines(BEFORE, after)).toEqual([]);
  });

  it('names the first of many lines that are gone', () => {
    const more = [...BEFORE, ...many(60)];
    expect(changedLines(more, BEFORE)).toEqual([
      '  - paragraph: "old"',
      '-  - button "b" kq60',
      '- (and 19 lines after it)',
    ]);
  });

  it('gives nothing where the whole page is shorter, or all of it is another one', () => {
    expect(changedLines(BEFORE, ['- main kq77'])).toBeUndefined();
    const other = Array.from({ length: 3_000 }, (_, n) => `- link "l" ab${n}`);
    expect(changedLines(BEFORE, other)).toBeUndefined();
  });

  it('does not take a name for a ref', () => {
    const before = [...BEFORE, '- button "kq3" kq50'];
    expect(changedLines(before, [...BEFORE, '- button "kq50" kq51'])).toEqual([
      '-- button "kq3" kq50',
      '+- button "kq50" kq51',
    ]);
  });
});

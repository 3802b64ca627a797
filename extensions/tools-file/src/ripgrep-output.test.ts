import { describe, expect, it } from 'vitest';
import { parseHits, parsePaths } from './ripgrep-output.js';

describe('parsePaths', () => {
  it('leaves out a path that was cut off', () => {
    expect(parsePaths('a\0b\nc\0cut')).toEqual(['a', 'b\nc']);
    expect(parsePaths('')).toEqual([]);
  });
});

describe('parseHits', () => {
  it('reads records, whatever is in the paths', () => {
    const paths = ['a', 'x\ny:1:2:', '3:4:'];
    const stdout = 'a\x001:2:[Omitted]\na\x007:1:x\nx\ny:1:2:\x005:6:\n3:4:\x008:9:[Omitted]\n';
    expect([...parseHits(stdout, paths)]).toEqual([
      [
        'a',
        [
          { line: 1, column: 2 },
          { line: 7, column: 1 },
        ],
      ],
      ['x\ny:1:2:', [{ line: 5, column: 6 }]],
      ['3:4:', [{ line: 8, column: 9 }]],
    ]);
  });

  it('passes over remarks on binary files, and paths that were not asked for', () => {
    const stdout = 'b.bin: binary file matches (found at 3)\na\x001:2:x\nother\x001:1:x\n';
    expect([...parseHits(stdout, ['a', 'b.bin'])]).toEqual([
      ['a', [{ line: 1, column: 2 }]],
      ['b.bin', []],
    ]);
  });

  it('leaves out a record that was cut off', () => {
    expect([...parseHits('a\x001:2:x\na\x003:4', ['a'])]).toEqual([
      ['a', [{ line: 1, column: 2 }]],
    ]);
  });
});

import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanFileName, numberedName } from './file-names.js';

describe('cleanFileName', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['.bashrc', 'bashrc'],
    ['..', 'download'],
    ['', 'download'],
    ['a/', 'download'],
    ['re:port?.txt', 're_port_.txt'],
    ['evil\u202etxt.exe', 'eviltxt.exe'],
    ['a\0b\n.txt', 'ab.txt'],
    [`${'報'.repeat(96)}.txt`, `${'報'.repeat(65)}.txt`],
    [`${'x'.repeat(500)}.tar.gz`, `${'x'.repeat(197)}.gz`],
  ])('%j becomes %j', (name, clean) => {
    expect(cleanFileName(name)).toBe(clean);
  });

  fuzz(
    'gives one visible name of a folder, whatever a page suggests',
    fc.string({ unit: 'grapheme' }),
    (name) => {
      const clean = cleanFileName(name);
      expect(clean).not.toMatch(/[/\\\0]|^\.|^$/);
      expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(200);
    },
  );

  it.each([
    ['a.txt', 1, 'a.txt'],
    ['a.txt', 2, 'a (2).txt'],
    ['a', 3, 'a (3)'],
  ])('numberedName(%j, %i) is %j', (name, number, numbered) => {
    expect(numberedName(name, number)).toBe(numbered);
  });
});

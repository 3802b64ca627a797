import { fuzz } from '@ethosagent/conformance';
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
    [`${'x'.repeat(500)}.tar.gz`, `${'x'.repeat(97)}.gz`],
  ])('%j becomes %j', (name, clean) => {
    expect(cleanFileName(name)).toBe(clean);
  });

  fuzz('gives one visible name of a folder, whatever a page suggests', fc.string(), (name) => {
    const clean = cleanFileName(name);
    expect(clean).not.toMatch(/[/\\\0]|^\.|^$/);
    expect(clean.length).toBeLessThanOrEqual(100);
  });

  it.each([
    ['a.txt', 1, 'a.txt'],
    ['a.txt', 2, 'a (2).txt'],
    ['a', 3, 'a (3)'],
  ])('numberedName(%j, %i) is %j', (name, number, numbered) => {
    expect(numberedName(name, number)).toBe(numbered);
  });
});

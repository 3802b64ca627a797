import { expect, it } from 'vitest';
import { fileParser } from './report-file.js';
import { tapParser } from './tap-report.js';

const MiB = 1024 * 1024;

it.each([
  [64, undefined],
  [63, 63 * MiB],
])('of a report of %i MiB is read %j', (size, read) => {
  const parser = fileParser('mark', (text) => text.length);
  const line = `${'x'.repeat(MiB - 1)}\n`;
  parser.add('\u0001mark report\n', 'stdout');
  for (let at = 0; at < size; at += 1) parser.add(line, 'stdout');
  parser.add('\n\u0001mark end\n', 'stdout');
  expect(parser.end(0)).toBe(read === undefined ? undefined : read + 1);
});

it('reads TAP around a long line that comes in pieces', () => {
  const parser = tapParser();
  const piece = 'x'.repeat(MiB / 16);
  parser.add('TAP version 13\nok 1 - a\n', 'stdout');
  for (let at = 0; at < 2_000; at += 1) parser.add(piece, 'stdout');
  parser.add('\nok 2 - b\n1..2\n', 'stdout');
  expect(parser.end(0)?.tests.map(({ name }) => name)).toEqual(['a', 'b']);
});

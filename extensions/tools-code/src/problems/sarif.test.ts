import { expect, it } from 'vitest';
import { sarifParser } from './sarif.js';

function read(runs: unknown) {
  const parser = sarifParser();
  parser.add(`a line before it\n${JSON.stringify({ version: '2.1.0', runs })}`, 'stdout');
  return parser.end(1);
}

it('sarifParser reads every run, with what a result may leave out', () => {
  const region = { startLine: 2, startColumn: 3, endLine: 2, endColumn: 9 };
  const at = (uri: string) => [{ physicalLocation: { artifactLocation: { uri }, region } }];
  const place = { line: 2, column: 3, endLine: 2, endColumn: 9 };
  const message = { text: 'bad' };
  expect(
    read([
      { results: [{ ruleId: 'R1', level: 'error', message, locations: at('file:///a%20b.py') }] },
      { results: null },
      {
        results: [
          { message, locations: at('/p/100%.ts') },
          { level: 'note', message: {} },
        ],
      },
    ]),
  ).toEqual({
    problems: [
      { file: '/a b.py', ...place, rule: 'R1', severity: 'error', message: 'bad' },
      { file: '/p/100%.ts', ...place, severity: 'warning', message: 'bad' },
      { file: '', line: 0, column: 0, severity: 'info', message: '' },
    ],
  });
});

it('sarifParser has no report of what is none', () => {
  expect(sarifParser().end(0)).toBeUndefined();
  expect(read('none')).toBeUndefined();
});

import { expect, it } from 'vitest';
import { missingToolText } from './missing-tool.js';

const many = Array.from({ length: 300 }, (_, at) => `tool_${at}`);

it.each<[string, string[], string]>([
  ['todocount', ['todo_list', 'todo_count'], '; did you mean "todo_count"?'],
  ['ReadFile', ['write_file', 'read_file'], '; did you mean "read_file"?'],
  ['read-file', ['write_file', 'read_file'], '; did you mean "read_file"?'],
  ['mcp__HUB__readfile', ['mcp__hub__read_file'], '; did you mean "mcp__hub__read_file"?'],
  ['weather', ['terminal', 'read_file'], '; there are terminal, read_file'],
  ['weather', ['terminal'], '; there is terminal'],
  ['weather', [], ''],
  [
    'weather',
    many,
    '; there are tool_0, tool_1, tool_2, tool_3, tool_4, tool_5, tool_6, tool_7, … (300 in all)',
  ],
  ['weather', ['a'.repeat(190), 'b'.repeat(64)], `; there are ${'a'.repeat(190)}, … (2 in all)`],
  ['weather', ['a'.repeat(201)], ''],
])('missingToolText of %j', (name, offered, hint) => {
  expect(missingToolText(name, offered)).toBe(`there is no tool "${name}"${hint}`);
});

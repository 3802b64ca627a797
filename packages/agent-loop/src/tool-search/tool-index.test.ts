import { readFileSync } from 'node:fs';
import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { ToolDefinition } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { HELD_OUT, WANTED } from './fixtures/wanted-tools.js';
import { createToolIndex } from './tool-index.js';

interface Args {
  [name: string]: 1 | Args;
}

const schemaOf = (args: Args): Record<string, unknown> => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(args).map(([name, below]) => [name, below === 1 ? {} : schemaOf(below)]),
  ),
});

const TOOLS: ToolDefinition[] = readFileSync(
  new URL('./fixtures/server-tools.jsonl', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => {
    const { name, description, args } = JSON.parse(line);
    return { name, description, parameters: schemaOf(args) };
  });

describe('createToolIndex of 500 tools of real servers', () => {
  const index = createToolIndex(TOOLS);
  const rankOf = ([task, ...tools]: (typeof WANTED)[number]) => {
    const wanted = new Set(tools.map((tool) => `mcp__${tool}`));
    return index.search(task, 500).findIndex((name) => wanted.has(name));
  };

  it('has the wanted tools', () => {
    expect(TOOLS).toHaveLength(500);
    const names = new Set(TOOLS.map(({ name }) => name));
    expect(
      [...WANTED, ...HELD_OUT]
        .flatMap(([, ...tools]) => tools)
        .filter((t) => !names.has(`mcp__${t}`)),
    ).toEqual([]);
  });

  const tasks: [string, typeof WANTED, number][] = [
    ['tasks that it was tuned on', WANTED, 0.9],
    ['tasks that it had not seen', HELD_OUT, 0.9],
  ];
  it.each(inCheck(tasks, ([, all]) => all === HELD_OUT))(
    'finds the right tool among the first five for most %s',
    (what, all, share) => {
      const ranks = all.map((wanted) => [wanted[0], rankOf(wanted)] as const);
      const among = (count: number) => ranks.filter(([, at]) => at >= 0 && at < count).length;
      const missed = ranks.filter(([, at]) => at < 0 || at >= 5);
      if (isLongRun()) console.log(what, all.length, among(1), among(5), among(10), missed);
      expect(among(5) / all.length).toBeGreaterThanOrEqual(share);
    },
  );

  it('finds tools by their names', () => {
    const missed: string[] = [];
    for (const { name } of TOOLS.filter((_, at) => isLongRun() || at % 50 === 0)) {
      expect(index.search(name, 1), name).toEqual([name]);
      const words = name.replace(/^mcp__/, '').replaceAll(/[_-]+/g, ' ');
      if (!index.search(words, 5).includes(name)) missed.push(words);
    }
    // For these, other tools have the same words and fewer additional ones.
    expect(missed.length).toBeLessThanOrEqual(2);
  });

  it.each(['', '  ', '***', '🙂', 'the of and', 'x'.repeat(100_000)])('takes %j', (query) => {
    expect(index.search(query.slice(0, 20), 5).length).toBeLessThanOrEqual(5);
    expect(index.search(query, 5)).toEqual(expect.any(Array));
  });
});

it('createToolIndex takes schemas of any shape', () => {
  const parameters = [
    {},
    { properties: null },
    { properties: [1] },
    { items: { properties: { a: 7 } } },
  ];
  const tools = parameters.map((each, at) => ({
    name: `t${at}`,
    description: '',
    parameters: each,
  }));
  expect(createToolIndex(tools).search('t1', 5)[0]).toBe('t1');
  expect(createToolIndex([]).search('x', 5)).toEqual([]);
});

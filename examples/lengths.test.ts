import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/explanation/sessions.md'), 'utf8');
const ROW = /^\| \[.*\]\(\.\.\/\.\.\/(examples\/.*)\) \| (\d+) \| (\d+) \| (\d+) \|$/gm;
const rows = [...page.matchAll(ROW)].map(([, file = '', ...figures]) => ({
  file,
  figures: figures.map(Number),
}));

/** What a program takes to have the tools, its casts, and all its lines. */
function count(file: string): number[] {
  const lines = readFileSync(join(root, file), 'utf8').trimEnd().split('\n');
  // The server is a program of its own, which a client starts.
  const server = file.replace('main.ts', 'server.mjs');
  const has = file.includes('mcp-server') ? readFileSync(join(root, server), 'utf8') : '';
  const text = has === '' ? lines : has.split('\n');
  const tools = text.filter((line) => /\b(aiTools|to\w+Tools|mastraTools|serveStdio)\b/.test(line));
  const casts = lines.join('\n').match(/\bas (?!const\b)\w|<any>|\bany\b|@ts-/g) ?? [];
  return [tools.length, casts.length, lines.length];
}

describe('the program of each framework', () => {
  it('has a row in the table of the page on sessions', () => {
    const names = rows.map(({ file }) => file.split('/')[1]).sort();
    expect(names).toEqual([
      'ai-sdk',
      'anthropic',
      'langchain',
      'mastra',
      'mcp-server',
      'openai-agents',
    ]);
  });

  it.each(rows)('$file is as long as the page says, and 30 lines at most', ({ file, figures }) => {
    expect(figures).toEqual(count(file));
    expect(figures.at(-1)).toBeLessThanOrEqual(30);
  });
});

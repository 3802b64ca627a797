import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createCodeTools } from '@ethosagent/tools-code';
import { createFileTools } from '@ethosagent/tools-file';
import { createMemoryTools } from '@ethosagent/tools-memory';
import { createTerminalTools } from '@ethosagent/tools-terminal';
import { createTodoTools } from '@ethosagent/tools-todo';
import { createWebTools } from '@ethosagent/tools-web';
import { type AnyTool, ERROR_CODES, TOOL_ERROR_CODES } from '@ethosagent/types';
import { beforeAll, describe, expect, it } from 'vitest';
import { apiReport } from './tooling/api/report.js';
import { REPOSITORY, readPage, readPages } from './tooling/markdown.js';
import { namesOn } from './tooling/named-on-page.js';
import { type Entry, publicEntries } from './tooling/public-exports.js';
import { withSignatures } from './tooling/signatures.js';
import { tablesOf } from './tooling/tables.js';

const entries = publicEntries();
const byPackage = new Map<string, Entry[]>();
for (const entry of entries) {
  const folder = basename(entry.page, '.md');
  byPackage.set(folder, [...(byPackage.get(folder) ?? []), entry]);
}
const page = (path: string) => readPage(join(REPOSITORY, path));
const apiFile = (folder: string) => join(REPOSITORY, 'docs/api', `${folder}.txt`);

describe('the public exports', () => {
  it.each([...byPackage])(
    'of %s are declared as in its API report; after a build, vitest -u writes it',
    async (folder, ofPackage) => {
      await expect(apiReport(ofPackage)).toMatchFileSnapshot(apiFile(folder));
    },
  );

  it('have no API report of a package that is gone', () => {
    const files = readdirSync(join(REPOSITORY, 'docs/api'));
    expect(files.filter((name) => !byPackage.has(basename(name, '.txt')))).toEqual([]);
  });

  it.each(entries.map((entry) => [entry.specifier, entry] as const))(
    'of %s are on its reference page, each in a heading or first in a row of a table',
    (_, { page: path, exports }) => {
      const named = namesOn(page(path));
      expect(exports.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
    },
  );
});

describe('the signatures', () => {
  const pages = readPages('docs/reference');
  let renewed: string[];
  beforeAll(() => {
    renewed = withSignatures(pages);
  });

  it.each(pages.map(({ path }, index) => [path, index] as const))(
    'on %s are those of the code; after a build, vitest -u writes them',
    async (path, index) => {
      await expect(renewed[index]).toMatchFileSnapshot(join(REPOSITORY, path));
    },
  );
});

it('docs/reference/errors.md lists every error code with its meaning, and no other', () => {
  const rows = tablesOf(page('docs/reference/errors.md')).flatMap((table) =>
    table.rows.map(([code, meaning]) => [code?.text, meaning?.text] as const),
  );
  expect(Object.fromEntries(rows)).toEqual({ ...ERROR_CODES, ...TOOL_ERROR_CODES });
  expect(rows).toHaveLength(Object.keys({ ...ERROR_CODES, ...TOOL_ERROR_CODES }).length);
});

const EXTENSIONS: [string, readonly AnyTool[]][] = [
  ['docs/reference/tools-code.md', createCodeTools()],
  ['docs/reference/tools-file.md', createFileTools()],
  ['docs/reference/tools-memory.md', createMemoryTools()],
  ['docs/reference/tools-terminal.md', createTerminalTools()],
  ['docs/reference/tools-todo.md', createTodoTools()],
  ['docs/reference/tools-web.md', createWebTools()],
];

it.each(EXTENSIONS)(
  '%s is about tools that refuse arguments which they do not know',
  (_, tools) => {
    const lax = tools.filter(({ schema }) => schema.additionalProperties !== false);
    expect(lax.map(({ name }) => name)).toEqual([]);
  },
);

it.each(EXTENSIONS)('%s lists every argument of every tool with its default', (path, tools) => {
  const table = tablesOf(page(path)).find(({ header }) => header[1] === 'argument');
  const listed: string[] = [];
  let tool = '';
  for (const [name, argument, , fallback] of table?.rows ?? []) {
    tool = name?.text || tool;
    for (const each of argument?.code ?? []) listed.push(`${tool} ${each} ${fallback?.text}`);
  }
  const actual = tools.flatMap(({ name, schema }) =>
    Object.entries<{ default?: unknown }>(Object(schema.properties)).map(
      ([argument, { default: fallback = '' }]) =>
        `${name} ${argument} ${typeof fallback === 'number' ? fallback.toLocaleString('en') : fallback}`,
    ),
  );
  expect(listed.sort()).toEqual(actual.sort());
});

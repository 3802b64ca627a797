import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pagePaths, REPOSITORY } from '../tooling/markdown.js';
import { addressOf, linkOnSite } from './addresses.js';
import { menu } from './contents.js';

it('the menu has every page under docs', () => {
  const listed = new Set(menu().flatMap(({ items }) => items.map(({ link }) => link)));
  const pages = pagePaths('docs').map(addressOf);
  expect(pages.filter((link) => !link.startsWith('/docs/source/') && !listed.has(link))).toEqual(
    [],
  );
});

it('the menu leads to pages, each under a name', () => {
  const items = menu().flatMap((group) => group.items);
  const wrong = items.filter(({ text, link }) => {
    const path = link.replace(/\/$/, '/README.md');
    return text === '' || !path.endsWith('.md') || !existsSync(join(REPOSITORY, path));
  });
  expect(wrong).toEqual([]);
});

it('the menu writes the name of a package as it is imported, and begins other names with a capital', () => {
  const names = menu().flatMap(({ items }) => items.map(({ text }) => text));
  expect(names).toEqual(expect.arrayContaining(['plugin-sdk', 'tools-file', 'The AI SDK']));
  expect(names).not.toContain('Plugin-sdk');
});

it.each([
  [
    'another page',
    'docs/how-to/run-an-agent.md',
    'approve-calls.md#ask',
    '/docs/how-to/approve-calls.md#ask',
  ],
  ['the page itself', 'docs/how-to/run-an-agent.md', '#ask', '#ask'],
  ['the front page', 'docs/README.md', '../README.md', '/'],
  ['the page of a folder', 'README.md', 'packages/core', '/packages/core/'],
  ['its file', 'docs/README.md', '../packages/core/README.md#limits', '/packages/core/#limits'],
  ['a source', 'docs/README.md', '../examples/demo.ts', '/docs/source/examples/demo.ts.md'],
  ['a folder of sources', 'README.md', 'examples/agent/', '/docs/source/examples/agent.md'],
])('a link to %s leads there on the site', (_, page, url, expected) => {
  expect(linkOnSite(page, url)).toBe(expected);
});

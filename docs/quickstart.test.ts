import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf } from './tooling/blocks.js';
import { REPOSITORY, readPage, readPages } from './tooling/markdown.js';

/** What fits on a screen. */
const LINES = 66;

describe.each(readPages('docs/quickstart').map((page) => [page.path, page] as const))(
  '%s',
  (_, page) => {
    const [program, ...others] = blocksOf(page).filter(({ marks }) => marks.has('home'));
    const code = program?.code ?? '';

    it('fits on one screen, and has one program', () => {
      expect([page.text.split('\n').length <= LINES, others]).toEqual([true, []]);
    });

    it('can be saved as JavaScript, without types', () => {
      const body = code.replace(/^import .*$/gm, '');
      // This parses the code, and does not run it.
      expect(() => new Function(`return async () => {${body}}`)).not.toThrow();
    });

    it('installs what its program imports', () => {
      const [, line = ''] = /^npm install (.*)$/m.exec(page.text) ?? [];
      const installed = new Set(line.split(' '));
      const imported = [...code.matchAll(/from '(@[^/']+\/[^/']+|[^/'@][^/']*)/g)].map(
        ([, name = '']) => name,
      );
      const missing = imported.filter((name) => !name.startsWith('node:') && !installed.has(name));
      expect(missing).toEqual([]);
    });
  },
);

it('docs/troubleshooting.md has messages that the code has', () => {
  const sources = ['packages', 'extensions'].flatMap((group) =>
    readdirSync(join(REPOSITORY, group)).flatMap((folder) =>
      readdirSync(join(REPOSITORY, group, folder, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => readFileSync(join(REPOSITORY, group, folder, 'src', file), 'utf8')),
    ),
  );
  const { text } = readPage(join(REPOSITORY, 'docs/troubleshooting.md'));
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
  // The last three headings are messages of other programs.
  const messages = headings.slice(0, -3).map((heading) => heading.replace(/^[A-Z_]+: /, ''));
  const has = (message: string) =>
    sources.some((source) => source.includes(message.replace(/:$/, '').replace(/^read /, '')));
  expect(messages.filter((message) => !has(message))).toEqual([]);
});

import { expect, it } from 'vitest';
import { parseQuickstart, readQuickstarts } from './quickstarts.js';

const page = (install: string, program: string) =>
  `# Quickstart\n\n\`\`\`sh\n${install}\nnpx ethosagent init --yes\n\`\`\`\n\n<!-- run -->\n\`\`\`ts\n${program}\n\`\`\`\n\n\`\`\`text\nhi\n\`\`\`\n`;

it('parseQuickstart reads what a reader types, and what comes of it', () => {
  const program = "import { a } from '@scope/a/deep';\nimport { join } from 'node:path';";
  expect(parseQuickstart(page('npm install @scope/a b@2', program), 'p.md')).toEqual({
    page: 'p.md',
    packages: ['@scope/a', 'b@2'],
    program: `${program}\n`,
    output: 'hi\n',
  });
});

it.each([
  [
    'a package that is not installed',
    page('npm install b', "import { a } from '@scope/a';"),
    /does not install @scope\/a/,
  ],
  ['no line that installs', page('pnpm add a', ''), /lacks a block/],
  ['no output', page('npm install a', '').replace('```text', '```sh'), /lacks a block/],
])('parseQuickstart refuses a page with %s', (_, text, message) => {
  expect(() => parseQuickstart(text, 'p.md')).toThrow(message);
});

it('the quickstarts of the documentation can be followed', () => {
  expect(readQuickstarts().map(({ page }) => page)).toContain('plain-script.md');
});

import { describe, expect, it } from 'vitest';
import { parsePage } from './markdown.js';
import { namesOn } from './named-on-page.js';
import { exportsOf } from './public-exports.js';
import { withSignatures } from './signatures.js';

describe('exportsOf', () => {
  it('finds names and types, with the file that they come from', () => {
    const source =
      "export type { A } from './a.js';\nexport {\n  b,\n  type C,\n} from './b.js';\n";
    expect(exportsOf(source, 'index.ts')).toEqual([
      { name: 'A', from: './a.js' },
      { name: 'b', from: './b.js' },
      { name: 'C', from: './b.js' },
    ]);
  });

  it.each(["export * from './a.js';", 'export const a = 1;', "import './a.js';"])(
    'refuses %j, which it would not see through',
    (source) => {
      expect(() => exportsOf(source, 'index.ts')).toThrow(/^index\.ts does more/);
    },
  );
});

describe('namesOn', () => {
  it('takes headings and first cells, and leaves the rest of the page', () => {
    const page = parsePage(
      'p.md',
      '### `a(x)` and `b`\n\n`c`\n\n| head `d` | |\n|---|---|\n| `e`, `f` | `g` |\n',
    );
    expect([...namesOn(page)]).toEqual(['e', 'f', 'a', 'b']);
  });
});

describe('withSignatures', () => {
  it('writes the block of a mark that has none', () => {
    const text = '<!-- signature: missingToolText -->\n\nAfter it.\n';
    const [page = ''] = withSignatures([{ path: 'docs/reference/policy.md', text }]);
    expect(page).toMatch(
      /^<!-- signature: missingToolText -->\n```ts\n[\s\S]*function missingToolText\(/,
    );
    expect(page).toMatch(/\n```\n+After it\.\n$/);
  });

  it('refuses a name that is not exported', () => {
    const text = '<!-- signature: nothing -->\n```ts\n```\n';
    expect(() => withSignatures([{ path: 'docs/reference/core.md', text }])).toThrow(
      /nothing is not exported/,
    );
  });
});

import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun, unlessLong } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createFileTools } from './file-tools.js';

/** Calls with which each tool works, whatever an earlier one has done. */
const CALLS: Record<string, ContainmentOptions['args']> = {
  read_file: [
    { path: 'notes.txt' },
    { path: 'docs/plan.md', offset: 2, limit: 1, line_numbers: true },
  ],
  write_file: ({ token }) => [
    { path: 'notes.txt', content: `Mine, and ${token}.\n` },
    { path: 'docs/new/deep.txt', content: 'new\n' },
  ],
  // No hostile text has what it searches for, or the file would grow with each call.
  patch_file: [{ path: 'docs/plan.md', hunks: [{ search: '¶', replace: '§', replace_all: true }] }],
  search_files: ({ file }) => [
    { pattern: 'token', path: file('docs'), context: 2 },
    { glob: '**/*.md' },
  ],
};

const FILES: Record<string, ContainmentOptions['files']> = {
  patch_file: { 'docs/plan.md': '¶ one\n¶ two\n' },
};

/** Those that have most to do with files; a long run tries all. */
const scenarios: Pick<ContainmentOptions, 'scenarios'> = unlessLong({
  scenarios: ['hostile arguments', 'symlink swaps', 'aborts'],
});

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createFileTools(), ({ name }) => name === 'patch_file')) {
    it(`by ${tool.name}`, async (context) => {
      const args = CALLS[tool.name] ?? {};
      const files = FILES[tool.name];
      const { tries, unused } = await assertContained(tool, {
        args,
        ...(files !== undefined && { files }),
        ...scenarios,
        seed: seedOfRun(),
      });
      expect(unused).toEqual([]);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});

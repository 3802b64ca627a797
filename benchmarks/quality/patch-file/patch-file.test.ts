import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { contest, patchFile } from './contest.js';
import { type Edit, editsOf, versionsFromGit } from './corpus.js';
import { WRITTEN } from './written.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

function edits(): Edit[] {
  const versions = isLongRun() ? [...WRITTEN, ...versionsFromGit(root, 1_000)] : WRITTEN;
  const all = versions.flatMap((pair) => [3, 1, 0].flatMap((context) => editsOf(pair, context)));
  return isLongRun() ? all : all.filter((_edit, at) => at % 3 === 0);
}

it('patch_file makes no wrong edit of a perturbed hunk, and more right ones than its peers', async () => {
  const { rows, wrong } = await contest(edits());
  const matching = rows.filter(({ replaceOnly }) => !replaceOnly);
  const names = new Set(matching.map(({ name }) => name));
  expect(wrong.filter(({ perturbation }) => names.has(perturbation))).toEqual([]);
  const right = (who: keyof (typeof rows)[number]['tallies']) =>
    matching.reduce((count, { tallies }) => count + tallies[who].right, 0);
  expect(right('patch_file')).toBeGreaterThan(right("Aider's method"));
  expect(right('patch_file')).toBeGreaterThan(right('exact search-and-replace'));
});

it('patch_file does not make an edit twice', async () => {
  const edit = patchFile();
  for (const { before, search, replace } of edits()) {
    const once = await edit(before, search, replace);
    if (once === undefined || replace.trim() === '') continue;
    const twice = await edit(once, search, replace);
    expect(twice).toBeUndefined();
  }
});

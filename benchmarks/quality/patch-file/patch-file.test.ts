import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { contest, patchFile } from './contest.js';
import { type Edit, editsOf, versionsFromGit } from './corpus.js';
import { WRITTEN } from './written.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const ofVersions = (versions: typeof WRITTEN) =>
  versions.flatMap((pair) => [3, 1, 0].flatMap((context) => editsOf(pair, context)));
const ofHistory = () => ofVersions(versionsFromGit(root, 1_000));

const written = ofVersions(WRITTEN).filter((_edit, at) => isLongRun() || at % 9 === 0);

/** The wrong edits of hunks whose search text is damaged, and the right ones of each contender. */
async function results(edits: readonly Edit[]) {
  const { rows, wrong } = await contest(edits);
  const matching = rows.filter(({ replaceOnly }) => !replaceOnly);
  const names = new Set(matching.map(({ name }) => name));
  const right = (who: keyof (typeof rows)[number]['tallies']) =>
    matching.reduce((count, { tallies }) => count + tallies[who].right, 0);
  return {
    tried: matching.reduce((count, { tried }) => count + tried, 0),
    wrong: wrong.filter(({ perturbation }) => names.has(perturbation)),
    ours: right('patch_file'),
    peers: Math.max(right("Aider's method"), right('exact search-and-replace')),
  };
}

it('patch_file makes no wrong edit of a perturbed hunk, and more right ones than its peers', async () => {
  const { wrong, ours, peers } = await results(written);
  expect(wrong).toEqual([]);
  expect(ours).toBeGreaterThan(peers);
});

// Edits that move lines in or out can't be told from those that don't once their hunk has lost its
// indentation. The history has a few of them.
it.runIf(isLongRun())(
  'patch_file makes at most one wrong edit in a thousand perturbed hunks of the history, and more right ones than its peers',
  async () => {
    const { tried, wrong, ours, peers } = await results(ofHistory());
    expect(tried).toBeGreaterThan(0);
    expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(tried / 1_000);
    expect(ours).toBeGreaterThan(peers);
  },
);

it('patch_file does not make an edit twice', async () => {
  const edit = patchFile();
  for (const { before, search, replace } of isLongRun() ? [...written, ...ofHistory()] : written) {
    const once = await edit(before, search, replace);
    if (once === undefined || replace.trim() === '') continue;
    // What is taken away and still stands there can be taken away again, such as one blank line of many.
    if (search.includes(replace) && once.includes(search)) continue;
    const twice = await edit(once, search, replace);
    expect(twice).toBeUndefined();
  }
});

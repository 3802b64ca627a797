import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { contest, plainFts5, sqliteSessions } from './contest.js';
import { passagesOf, readPassages } from './corpus.js';
import { HELD_OUT } from './held-out.js';
import { QUESTIONS } from './questions.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Every fourth question, in the documents of these, so that it takes a second. */
const questions = isLongRun() ? QUESTIONS : QUESTIONS.filter((_, at) => at % 4 === 0);
const documents = new Set(questions.map(({ document }) => document));

it('session_search finds more answers first than FTS5 and its porter variant', async () => {
  const passages = readPassages(root, isLongRun() ? undefined : documents);
  const [plain, porter, ours] = await contest(
    passages,
    questions,
    new Map([
      ['plain', plainFts5(passages, 'unicode61')],
      ['porter', plainFts5(passages, 'porter unicode61')],
      ['ours', await sqliteSessions(passages)],
    ]),
  );
  expect(ours?.meanReciprocalRank).toBeGreaterThan(plain?.meanReciprocalRank ?? 1);
  expect(ours?.meanReciprocalRank).toBeGreaterThan(porter?.meanReciprocalRank ?? 1);
});

it('each question has its answer in the passages', () => {
  const heldOut = new Set(HELD_OUT.map(({ document }) => document));
  const passages = readPassages(root, new Set([...documents, ...heldOut]));
  const unanswered = [...questions, ...HELD_OUT].filter(
    ({ document, says }) =>
      !passages.some(
        (passage) =>
          passage.document === document && passage.text.toLowerCase().includes(says.toLowerCase()),
      ),
  );
  expect(unanswered).toEqual([]);
  expect(QUESTIONS.filter(({ document }) => heldOut.has(document))).toEqual([]);
  for (const set of [QUESTIONS, HELD_OUT]) expect(set.length).toBeGreaterThanOrEqual(60);
});

it('a passage is a section, and a part of a long one', () => {
  const words = 'word '.repeat(50);
  const markdown = `# A\n\n${words}\n\n## B\n\n\`\`\`sh\n# no heading\n\`\`\`\n${words}\n`;
  expect(passagesOf(markdown).map((text) => text.slice(0, 4))).toEqual(['# A\n', '## B']);
  const parts = passagesOf(`# Long\n\n${`${words}\n\n`.repeat(40)}`);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(4_000);
});

import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun, unlessLong } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createMemoryTools } from './memory-tools.js';

/** Calls with which each tool works, whatever an earlier one has done. */
const CALLS: Record<string, ContainmentOptions['args']> = {
  memory_read: [{}, { section: 'Notes' }, { query: 'ordinary' }, { versions: true }],
  memory_write: ({ token }) => [
    { action: 'add', section: 'Mine', text: `Seen: ${token}.` },
    { action: 'replace', section: 'Plans', text: 'Another plan.', scope: 'user' },
    { action: 'add', text: 'For the team.', scope: 'team' },
  ],
  session_search: [
    { query: 'ordinary note' },
    { query: 'note', since: '2026-01-01', context: 2 },
    { query: 'note', session_id: 'earlier-session-session:session' },
  ],
};

/** Those that have most to do with memory; a long run tries all. */
const scenarios: Pick<ContainmentOptions, 'scenarios'> = unlessLong({
  scenarios: ['hostile arguments', 'aborts'],
});

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createMemoryTools(), ({ name }) => name === 'memory_write')) {
    it(`by ${tool.name}`, async (context) => {
      const args = CALLS[tool.name] ?? {};
      const { tries, unused } = await assertContained(tool, {
        args,
        ...scenarios,
        seed: seedOfRun(),
      });
      expect(unused).toEqual([]);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});

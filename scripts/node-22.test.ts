import { isLongRun, isNode22, runTestsOnNode22 } from '@ethosagent/test-support';
import { expect, it } from 'vitest';

/** Test files that older versions of Node leave out, and the least number of tests in each. */
const FILES = {
  'packages/adapter-mastra/src/contract.test.ts': 50,
  'packages/storage-sqlite/src/node-sqlite.test.ts': 250,
};

// In one run, which reads the sources once for all of them. A check on Node 22 or 24 runs them by
// itself; on an older Node the story of Mastra and one store with both drivers stand for them.
it.runIf(isLongRun() && !isNode22)(
  'what this Node leaves out passes on one that npx brings',
  async () => {
    const report = await runTestsOnNode22(Object.keys(FILES));
    expect(report).toMatchObject({ success: true, numFailedTests: 0 });
    for (const [file, least] of Object.entries(FILES)) {
      expect(report.passedIn(file), file).toBeGreaterThan(least);
    }
    expect(report.json).toContain('meets Node 22 and the version of Mastra');
  },
);

import { isNode22, runTestsOnNode22 } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';

// Mastra wants Node 22.13. On an older one, the same file runs on a Node that npx brings.
if (isNode22) {
  // What Mastra tells its makers of its use.
  process.env.MASTRA_TELEMETRY_DISABLED = '1';
  const { contract } = await import('./fixtures/contract.js');
  const { foreignContract } = await import('./fixtures/foreign-contract.js');
  describe('mastraTools in agents and workflows of Mastra', contract);
  describe('fromMastraTool', foreignContract);
} else {
  it('mastraTools and fromMastraTool, on Node 22', async () => {
    const report = await runTestsOnNode22(['packages/adapter-mastra/src/contract.test.ts']);
    expect(report).toMatchObject({ success: true, numFailedTests: 0 });
    expect(report.numPassedTests).toBeGreaterThan(50);
    expect(report.json).toContain('meets Node 22 and the version of Mastra');
  });
}

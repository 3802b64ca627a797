import { isNode22 } from '@ethosagent/test-support';
import { describe, it } from 'vitest';

// Mastra wants Node 22.13.
if (isNode22) {
  // What Mastra tells its makers of its use.
  process.env.MASTRA_TELEMETRY_DISABLED = '1';
  const { contract } = await import('./fixtures/contract.js');
  const { foreignContract } = await import('./fixtures/foreign-contract.js');
  describe('mastraTools in agents and workflows of Mastra', contract);
  describe('fromMastraTool', foreignContract);
} else {
  it.skip('mastraTools and fromMastraTool: scripts/node-22.test.ts runs them', () => {});
}

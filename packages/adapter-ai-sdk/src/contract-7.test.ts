import { isLongRun } from '@ethosagent/test-support';
import { describe, it, vi } from 'vitest';

vi.mock('ai', () => import('ai-7'));
vi.mock('ai/test', () => import('ai-7/test'));

const [major = 0] = process.versions.node.split('.').map(Number);

// `ai` 7 requires Node 22. It is not loaded if it is not tested.
if (major >= 22 || isLongRun()) {
  const { contract } = await import('./fixtures/contract.js');
  describe('aiTools in the loop of ai', () => contract(7));
} else {
  it.skip('aiTools in the loop of ai 7, which wants Node 22', () => {});
}

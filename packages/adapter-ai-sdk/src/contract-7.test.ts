import { isLongRun } from '@ethosagent/test-support';
import { describe, vi } from 'vitest';

vi.mock('ai', () => import('ai-7'));
vi.mock('ai/test', () => import('ai-7/test'));

// The contract of `contract.test.ts` with the next version. A check does not load it.
const { contract } = isLongRun() ? await import('./fixtures/contract.js') : { contract: () => {} };
describe.runIf(isLongRun())('aiTools in the loop of ai', () => contract(7));

import { isLongRun } from '@ethosagent/test-support';
import { describe, it } from 'vitest';

// A check does not load them: it resumes graphs with new tools in `contract.test.ts`, and that a yes is
// used up is the decision of the session, which the contract of every adapter holds.
if (isLongRun()) {
  const { restarts } = await import('./fixtures/restart.js');
  restarts();
} else {
  describe.runIf(isLongRun())('graphs in another process', () => it('go on', () => {}));
}

import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output of a test run with one plain line that a script can read. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    _errors: unknown,
    reason: 'passed' | 'interrupted' | 'failed',
  ): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    // A hook, a file that doesn't load, or an error outside of any test.
    if (reason !== 'passed' && count.failed === 0) count.failed = 1;
    process.stdout.write(`Tests: ${count.passed} passed, ${count.failed} failed\n`);
  }
}

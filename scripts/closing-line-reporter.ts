import type { Reporter, TestModule, Vitest } from 'vitest/node';

/**
 * Ends the output of a test run with how often each promise was tried to be broken, and with one
 * plain line that a script can read.
 */
export default class ClosingLineReporter implements Reporter {
  #seed = '';

  onInit(vitest: Vitest): void {
    this.#seed = vitest.config.env.ETHOS_SEED ?? '';
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    _errors: unknown,
    reason: 'passed' | 'interrupted' | 'failed',
  ): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const tried = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        count[test.result().state]++;
        for (const [promised, tries] of triesOf(test.meta())) {
          tried.set(promised, (tried.get(promised) ?? 0) + tries);
        }
      }
    }
    // A hook, a file that doesn't load, or an error outside of any test.
    if (reason !== 'passed' && count.failed === 0) count.failed = 1;
    const lines = [...tried]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(
        ([promised, tries]) => `  ${promised.padEnd(12)}${tries.toLocaleString('en').padStart(14)}`,
      );
    if (lines.length > 0) lines.unshift('Tries to break a promise, by promise:');
    lines.push(`Seed of the property tests: ${this.#seed} (ETHOS_SEED=${this.#seed} repeats them)`);
    process.stdout.write(`${lines.join('\n')}\n`);
    process.stdout.write(`Tests: ${count.passed} passed, ${count.failed} failed\n`);
  }
}

function triesOf(meta: object): Array<[string, number]> {
  if (!('tries' in meta) || typeof meta.tries !== 'object' || meta.tries === null) return [];
  return Object.entries(meta.tries);
}

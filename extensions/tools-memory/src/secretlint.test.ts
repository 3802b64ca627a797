import { secretLintProfiler } from '@secretlint/profiler';
import { describe, expect, it } from 'vitest';
import { lintSecrets } from './secretlint.js';

describe('lintSecrets', () => {
  const marks = () => performance.getEntriesByType('mark').length;

  it('keeps nothing of the texts, nor of the marks of the host', async () => {
    await lintSecrets('the first text loads the rules');
    const before = marks();
    for (let at = 0; at < 20; at += 1) await lintSecrets(`text ${at}`);
    expect(marks()).toBe(before);
    // Its observer sees those of the whole process, and would measure from a start that there is not.
    performance.mark('of the host::end');
    // An observer is called after what is under way.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await secretLintProfiler.getEntries()).toHaveLength(0);
    performance.clearMarks('of the host::end');
  });

  it('finds a key', async () => {
    const key = ['ghp', 'a1B2'.repeat(9)].join('_');
    expect(await lintSecrets(`one\n${key}`)).toEqual([
      { kind: 'secret', what: 'a secret (rule github)', line: 2 },
    ]);
  });
});

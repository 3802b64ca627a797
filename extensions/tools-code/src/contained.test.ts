import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun, unlessLong } from '@ethosagent/test-support';
import type { CapabilityName } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createCodeTools } from './code-tools.js';
import { RECORDED_RUNS, replay } from './fixtures/recorded-runs.js';

/** Fake programs that repeat the recorded output of the real ones. */
const binaries = Object.fromEntries(
  RECORDED_RUNS.filter(({ binary }) => binary !== 'cargo' && binary !== 'go').map((run) => [
    run.binary,
    replay(run),
  ]),
);

const PYTHON: ContainmentOptions['files'] = {
  'pyproject.toml': '[tool.ruff]\n[tool.mypy]\n[tool.pytest]\n',
  'src/a.py': 'import os\n',
  'tests/test_a.py': 'def test_a():\n    pass\n',
};

/** Calls with which each tool works, and what it declares for the programs that it starts alone. */
const CALLS: Record<string, { options: ContainmentOptions; unused: CapabilityName[] }> = {
  lint: {
    options: { args: [{ path: 'src/a.py', fix: true }], files: PYTHON, binaries },
    unused: ['fs_reach.write'],
  },
  typecheck: {
    options: { args: [{ path: 'src' }], files: PYTHON, binaries },
    unused: ['fs_reach.write'],
  },
  run_tests: {
    options: {
      args: ({ file }) => [{ filter: 'a', path: file('tests') }],
      files: PYTHON,
      binaries,
    },
    unused: ['fs_reach.write'],
  },
  run_code: {
    options: { args: [{ language: 'bash', code: 'echo mine; cat', stdin: 'yours' }] },
    // A snippet can only call tools inside a session.
    unused: ['calls'],
  },
};

/** Those that have most to do with processes; a long run tries all. */
const scenarios: Pick<ContainmentOptions, 'scenarios'> = unlessLong({
  scenarios: ['hostile arguments', 'aborts'],
});

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createCodeTools(), ({ name }) => name === 'run_code')) {
    it(`by ${tool.name}`, async (context) => {
      const { options = { args: {} }, unused: expected } = CALLS[tool.name] ?? {};
      const { tries, unused } = await assertContained(tool, {
        ...options,
        ...scenarios,
        seed: seedOfRun(),
      });
      expect(unused).toEqual(expected);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});

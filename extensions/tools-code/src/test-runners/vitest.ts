import { findNodeTool } from '../project/node-tool.js';
import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { jestReportParser, literally } from './jest-report.js';

// The JSON says nothing of errors outside of tests; another reporter does, for the words of a crash.
const REPORTERS = ['--reporter=json', '--reporter=dot'];

/** Vitest, by its JSON report. */
export const vitest: Runner<TestReport> = {
  name: 'vitest',
  title: 'Vitest',
  language: 'javascript',
  signs: {
    files: ['vitest.config.*', 'vitest.workspace.*'],
    dependency: 'vitest',
    script: { names: ['test', 'test:unit'], word: /\bvitest\b/ },
  },
  async commands({ root, target, filter }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'vitest' });
    if (tool === undefined) return [];
    const args = [tool.file, 'run', ...REPORTERS, '--includeTaskLocation'];
    if (filter !== undefined) args.push(`--testNamePattern=${literally(filter)}`);
    if (target !== undefined) args.push(target);
    return [{ binary: 'node', args, cwd: root, version: tool.version }];
  },
  parser: () => jestReportParser('{"numTotalTestSuites":'),
};

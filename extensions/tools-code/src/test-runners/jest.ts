import { findNodeTool } from '../project/node-tool.js';
import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { jestReportParser, literally } from './jest-report.js';

/** Jest, by its JSON report. */
export const jest: Runner<TestReport> = {
  name: 'jest',
  title: 'Jest',
  language: 'javascript',
  signs: {
    files: ['jest.config.*'],
    packageKey: 'jest',
    dependency: 'jest',
    script: { names: ['test', 'test:unit'], word: /\bjest\b/ },
  },
  async commands({ root, target, isTargetFile, filter }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'jest' });
    if (tool === undefined) return [];
    const args = [tool.file, '--json', '--testLocationInResults', '--no-watchman'];
    if (filter !== undefined) args.push(`--testNamePattern=${literally(filter)}`);
    if (target !== undefined && isTargetFile) args.push('--runTestsByPath', target);
    if (target !== undefined && !isTargetFile)
      args.push(`--testPathPatterns=${literally(target)}/`);
    return [{ binary: 'node', args, cwd: root, version: tool.version }];
  },
  parser: () => jestReportParser('{"numFailedTestSuites":'),
};

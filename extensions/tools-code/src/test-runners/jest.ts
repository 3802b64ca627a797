import { findNodeTool } from '../project/node-tool.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { jestReportParser, literally } from './jest-report.js';

const VALUED = new Set(
  '-c --config -t --testNamePattern -w --maxWorkers --env --reporters --rootDir --roots --selectProjects --shard --testTimeout --coverageReporters --coverageDirectory'.split(
    ' ',
  ),
);
const isPattern = isPlace(VALUED);

const signs: ProjectMarkers = {
  files: ['jest.config.*'],
  packageKey: 'jest',
  dependency: 'jest',
  script: { names: ['test', 'test:unit'], find: byProgram('jest') },
};

/** Runs Jest, and reads its JSON report. */
export const jest: Runner<TestReport> = {
  name: 'jest',
  title: 'Jest',
  language: 'javascript',
  signs,
  async commands({ root, target, isTargetFile, filter }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'jest' });
    if (tool === undefined) return [];
    const args = ['--json', '--testLocationInResults', '--no-watchman'];
    if (filter !== undefined) args.push(`--testNamePattern=${literally(filter)}`);
    if (target !== undefined && isTargetFile) args.push('--runTestsByPath', target);
    if (target !== undefined && !isTargetFile) {
      // Before version 30, the option has its singular name.
      const option = Number.parseInt(tool.version, 10) < 30 ? 'Pattern' : 'Patterns';
      args.push(`--testPath${option}=${literally(target)}/`);
    }
    const { version } = tool;
    const drop = (word: string, before: string) => target !== undefined && isPattern(word, before);
    const own = await ownCommand(files, root, { signs, additions: { last: args, drop } });
    const direct = { binary: 'node', args: [tool.file, ...args], cwd: root, version };
    return own === undefined ? [direct] : [{ ...own, version }, direct];
  },
  parser: () => jestReportParser('{"numFailedTestSuites":'),
};

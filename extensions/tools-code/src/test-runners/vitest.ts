import { findNodeTool } from '../project/node-tool.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { jestReportParser, literally } from './jest-report.js';

// The JSON report leaves out errors outside of tests. The second reporter prints them.
const REPORTERS = ['--reporter=json', '--reporter=dot', '--includeTaskLocation'];
const VERBS = new Set(['run', 'watch', 'dev']);
const VALUED = new Set(
  '-c --config -r --root --dir -t --testNamePattern --reporter --outputFile --project --environment --pool --mode --shard --exclude --maxWorkers --testTimeout'.split(
    ' ',
  ),
);
const isFilter = isPlace(VALUED);

const signs: ProjectMarkers = {
  files: ['vitest.config.*', 'vitest.workspace.*'],
  dependency: 'vitest',
  script: {
    names: ['test', 'test:unit'],
    find: (words) => {
      const at = byProgram('vitest')(words);
      const verb = at === undefined ? undefined : words[at + 1]?.text;
      return ['bench', 'list', 'typecheck', 'init'].includes(verb ?? '') ? undefined : at;
    },
  },
};

/** Runs Vitest, and reads its JSON report. */
export const vitest: Runner<TestReport> = {
  name: 'vitest',
  title: 'Vitest',
  language: 'javascript',
  signs,
  async commands({ root, target, filter }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'vitest' });
    if (tool === undefined) return [];
    const args = [...REPORTERS];
    if (filter !== undefined) args.push(`--testNamePattern=${literally(filter)}`);
    if (target !== undefined) args.push(target);
    const { version } = tool;
    const own = await ownCommand(files, root, {
      signs,
      additions: {
        last: ['--run', ...args],
        drop: (word, before) => target !== undefined && !VERBS.has(word) && isFilter(word, before),
      },
    });
    const direct = { binary: 'node', args: [tool.file, 'run', ...args], cwd: root, version };
    return own === undefined ? [direct] : [{ ...own, version }, direct];
  },
  parser: () => jestReportParser('{"numTotalTestSuites":'),
};

import type { OutputParser } from '../output/output-parser.js';
import { anyScript } from '../project/any-script.js';
import type { ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { TestReport } from '../report.js';
import { tapParser } from './tap-report.js';

const signs: ProjectMarkers = { anyScript: ['test', 'test:unit'] };

/**
 * Runs the test script of the project without knowing the runner. When it writes TAP, its tests are
 * read.
 */
export const testScript: Runner<TestReport> = {
  name: 'script',
  title: 'the test script',
  language: 'javascript',
  signs,
  takesFilter: false,
  takesPath: false,
  commands: ({ root }, files) => anyScript(files, root, signs),
  parser: scriptParser,
};

function scriptParser(): OutputParser<TestReport> {
  const tap = tapParser();
  return {
    add: tap.add,
    end(exitCode) {
      const report = tap.end(exitCode);
      const isTold = report !== undefined && report.tests.length > 0;
      return isTold ? report : { tests: [], problems: [], byExitCode: true };
    },
  };
}

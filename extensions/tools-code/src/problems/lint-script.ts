import { anyScript } from '../project/any-script.js';
import type { ProjectMarkers } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport } from '../report.js';

const signs: ProjectMarkers = { anyScript: ['lint'] };

/** Runs the lint script of the project without knowing the linter. Only its exit code counts. */
export const lintScript: Runner<ProblemReport> = {
  name: 'script',
  title: 'the lint script',
  language: 'javascript',
  signs,
  takesPath: false,
  takesFix: false,
  commands: ({ root }, files) => anyScript(files, root, signs),
  parser: () => ({ add: () => {}, end: () => ({ problems: [], byExitCode: true }) }),
};

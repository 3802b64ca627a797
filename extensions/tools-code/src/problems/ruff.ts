import { pythonTool } from '../project/python-tool.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport } from '../report.js';
import { sarifParser } from './sarif.js';

/** Runs Ruff, and reads its SARIF report. */
export const ruff: Runner<ProblemReport> = {
  name: 'ruff',
  title: 'Ruff',
  language: 'python',
  signs: {
    files: ['ruff.toml', '.ruff.toml'],
    pyproject: 'ruff',
    fallback: ['pyproject.toml', 'setup.py', 'requirements.txt'],
  },
  async commands({ root, target, fix }, files) {
    const fixing = fix ? '--fix' : '--no-fix';
    const args = ['check', '--output-format=sarif', fixing, target ?? root];
    return pythonTool(files, root, { name: 'ruff', args });
  },
  parser: sarifParser,
};

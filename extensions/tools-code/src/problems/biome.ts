import { findNodeTool } from '../project/node-tool.js';
import { byProgram } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport } from '../report.js';
import { sarifParser } from './sarif.js';

/** Runs Biome, and reads its SARIF report. */
export const biome: Runner<ProblemReport> = {
  name: 'biome',
  title: 'Biome',
  language: 'javascript',
  signs: {
    files: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'],
    dependency: '@biomejs/biome',
    script: { names: ['lint', 'check'], find: byProgram('biome') },
  },
  async commands({ root, target, fix }, files) {
    const tool = await findNodeTool(files, root, {
      packageName: '@biomejs/biome',
      name: 'biome',
    });
    if (tool === undefined) return [];
    const options = ['--reporter=sarif', '--max-diagnostics=none', '--colors=off'];
    const args = [tool.file, 'lint', ...options, ...(fix ? ['--write'] : []), target ?? root];
    return [{ binary: 'node', args, cwd: root, version: tool.version }];
  },
  parser: sarifParser,
};

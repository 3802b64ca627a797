import { join } from 'node:path';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { findNodeTool } from '../project/node-tool.js';
import type { ProjectFiles } from '../project/project-files.js';
import { byProgram, type ProjectMarkers, scriptOf } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import { programName } from '../project/script-command.js';
import type { Problem, ProblemReport } from '../report.js';

const CONFIG = 'tsconfig.json';
const MAX_PROBLEMS = 20_000;
const MAX_MESSAGE_CHARS = 4_000;

// The one format of `tsc --pretty false`; what explains an error follows it, indented.
const LINE = /^(?:(.+?)\((\d+),(\d+)\): )?(error|warning) (TS\d+): (.*)$/;

const VUE_TSC = 'vue-tsc';
const SIGNS: ProjectMarkers = {
  files: [CONFIG],
  script: { names: ['typecheck', 'type-check', 'types'], find: byProgram('tsc', VUE_TSC) },
};

/** Runs TypeScript's compiler without output, or vue-tsc when a script of the project runs it. */
export const tsc: Runner<ProblemReport> = {
  name: 'tsc',
  title: 'TypeScript',
  language: 'javascript',
  signs: SIGNS,
  async commands({ root }, files) {
    const tool = await compilerOf(files, root);
    if (tool === undefined) return [];
    const config = await files.json(join(root, CONFIG));
    // A configuration that only references other projects has no files to check.
    const isSolution = isEmpty(config?.files) && !isEmpty(config?.references);
    const which = isSolution ? ['--build'] : ['--project', CONFIG];
    const args = [tool.file, ...which, '--noEmit', '--pretty', 'false'];
    return [{ binary: 'node', args, cwd: root, version: tool.version }];
  },
  parser: () => tscParser(),
};

/**
 * Chooses the compiler. tsc skips .vue files, so it never replaces vue-tsc, even when that is
 * missing.
 */
async function compilerOf(files: ProjectFiles, root: string) {
  const script = scriptOf(await files.json(join(root, 'package.json')), SIGNS);
  if (programName(script?.words[script.program]?.text ?? '') !== VUE_TSC) {
    return findNodeTool(files, root, { packageName: 'typescript', name: 'tsc' });
  }
  const tool = await findNodeTool(files, root, { packageName: VUE_TSC });
  return tool && { ...tool, version: `by ${VUE_TSC} ${tool.version}` };
}

export function tscParser(): OutputParser<ProblemReport> {
  const problems: Problem[] = [];
  let last: Problem | undefined;
  const lines = new LineReader((line) => {
    const match = LINE.exec(line);
    if (match === null) {
      if (last === undefined || !/^\s+\S/.test(line)) return;
      if (last.message.length < MAX_MESSAGE_CHARS) last.message += `\n${line}`;
      return;
    }
    const [, file = '', row = '0', column = '0', kind, rule = '', message = ''] = match;
    last = {
      file,
      line: Number(row),
      column: Number(column),
      rule,
      severity: kind === 'warning' ? 'warning' : 'error',
      message,
    };
    if (problems.length < MAX_PROBLEMS) problems.push(last);
  });
  return {
    add: (text, stream) => {
      if (stream === 'stdout') lines.add(text);
    },
    end(exitCode) {
      lines.end();
      // An error without a file is about the command line or the configuration.
      const isAboutFiles = problems.some(({ file }) => file !== '');
      if (exitCode !== 0 && !isAboutFiles) return undefined;
      return { problems };
    },
  };
}

function isEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}

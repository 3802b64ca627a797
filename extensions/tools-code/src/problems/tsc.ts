import { join } from 'node:path';
import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { findNodeTool } from '../project/node-tool.js';
import { byProgram } from '../project/project-markers.js';
import type { Runner } from '../project/runner.js';
import type { Problem, ProblemReport } from '../report.js';

const CONFIG = 'tsconfig.json';
const MAX_PROBLEMS = 20_000;
const MAX_MESSAGE_CHARS = 4_000;

// The one format of `tsc --pretty false`; what explains an error follows it, indented.
const LINE = /^(?:(.+?)\((\d+),(\d+)\): )?(error|warning) (TS\d+): (.*)$/;

/** TypeScript's compiler, without output. */
export const tsc: Runner<ProblemReport> = {
  name: 'tsc',
  title: 'TypeScript',
  language: 'javascript',
  signs: {
    files: [CONFIG],
    script: { names: ['typecheck', 'type-check', 'types'], find: byProgram('tsc', 'vue-tsc') },
  },
  async commands({ root }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'typescript', name: 'tsc' });
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

import { join } from 'node:path';
import { z } from 'zod';
import { LineReader } from '../output/line-reader.js';
import { parseJson } from '../output/parse-json.js';
import { partOf } from '../project/project-files.js';
import { pythonTool } from '../project/python-tool.js';
import type { Runner } from '../project/runner.js';
import type { Problem, ProblemReport } from '../report.js';

const MAX_PROBLEMS = 20_000;

const finding = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
  hint: z.string().nullish(),
  code: z.string().nullish(),
  severity: z.string(),
});

/** Runs mypy, and reads its JSON lines. */
export const mypy: Runner<ProblemReport> = {
  name: 'mypy',
  title: 'mypy',
  language: 'python',
  signs: {
    files: ['mypy.ini', '.mypy.ini'],
    pyproject: 'mypy',
    fallback: ['pyproject.toml', 'setup.py', 'requirements.txt'],
  },
  async commands({ root, target }, files) {
    const project = await files.toml(join(root, 'pyproject.toml'));
    const namesFiles = partOf(project, 'tool', 'mypy')?.files !== undefined;
    const what = target ?? (namesFiles ? undefined : root);
    const args = ['--output=json', '--no-error-summary', ...(what === undefined ? [] : [what])];
    return pythonTool(files, root, { name: 'mypy', args });
  },
  parser() {
    const problems: Problem[] = [];
    const lines = new LineReader((line) => {
      const found = parseJson(finding, line);
      if (found === undefined || problems.length >= MAX_PROBLEMS) return;
      const { file, line: row, column, message, hint, code, severity } = found;
      problems.push({
        file,
        line: Math.max(row, 0),
        // mypy counts columns from 0; -1 means that there is none.
        column: column + 1,
        ...(code != null && { rule: code }),
        severity: severity === 'error' ? 'error' : 'info',
        message: hint ? `${message}\n${hint}` : message,
      });
    });
    return {
      add: (text, stream) => {
        if (stream === 'stdout') lines.add(text);
      },
      end(exitCode) {
        lines.end();
        return exitCode === 0 || problems.length > 0 ? { problems } : undefined;
      },
    };
  },
};

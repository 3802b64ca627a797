import { z } from 'zod';
import { jsonDocument } from '../output/json-document.js';
import { pythonTool } from '../project/python-tool.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport } from '../report.js';

const position = z.object({ row: z.int(), column: z.int() });

const report = z.array(
  z.object({
    code: z.string().nullish(),
    filename: z.string(),
    location: position,
    end_location: position.nullish(),
    message: z.string(),
  }),
);

/** Ruff, by its JSON report. */
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
    const args = ['check', '--output-format=json', fixing, target ?? root];
    return pythonTool(files, root, { name: 'ruff', args });
  },
  parser: () =>
    jsonDocument(report, (found) => ({
      problems: found.map(({ code, filename, location, end_location, message }) => ({
        file: filename,
        line: location.row,
        column: location.column,
        ...(end_location && { endLine: end_location.row, endColumn: end_location.column }),
        rule: code ?? 'syntax-error',
        severity: 'error',
        message,
      })),
    })),
};

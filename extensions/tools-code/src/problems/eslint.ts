import { z } from 'zod';
import { jsonDocument } from '../output/json-document.js';
import { findNodeTool } from '../project/node-tool.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport } from '../report.js';

const report = z.array(
  z.object({
    filePath: z.string(),
    messages: z.array(
      z.object({
        ruleId: z.string().nullish(),
        severity: z.number(),
        message: z.string(),
        line: z.int().nullish(),
        column: z.int().nullish(),
        endLine: z.int().nullish(),
        endColumn: z.int().nullish(),
      }),
    ),
  }),
);

/** ESLint, by its JSON report. */
export const eslint: Runner<ProblemReport> = {
  name: 'eslint',
  title: 'ESLint',
  language: 'javascript',
  signs: {
    files: ['eslint.config.*', '.eslintrc', '.eslintrc.*'],
    packageKey: 'eslintConfig',
    dependency: 'eslint',
    script: { names: ['lint', 'check'], word: /\beslint\b/ },
  },
  async commands({ root, target, fix }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'eslint' });
    if (tool === undefined) return [];
    const args = [tool.file, '--format=json', '--no-color', ...(fix ? ['--fix'] : [])];
    const { version } = tool;
    return [{ binary: 'node', args: [...args, target ?? '.'], cwd: root, version }];
  },
  parser: () =>
    jsonDocument(report, (files) => ({
      problems: files.flatMap(({ filePath, messages }) =>
        messages.map(({ ruleId, severity, message, line, column, endLine, endColumn }) => ({
          file: filePath,
          line: line ?? 0,
          column: column ?? 0,
          ...(endLine != null && { endLine }),
          ...(endColumn != null && { endColumn }),
          ...(ruleId != null && { rule: ruleId }),
          severity: severity === 2 ? ('error' as const) : ('warning' as const),
          message,
        })),
      ),
    })),
};

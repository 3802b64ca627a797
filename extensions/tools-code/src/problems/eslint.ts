import { z } from 'zod';
import { jsonDocument } from '../output/json-document.js';
import { findNodeTool } from '../project/node-tool.js';
import { isPlace, ownCommand } from '../project/own-command.js';
import { byProgram, type ProjectMarkers } from '../project/project-markers.js';
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

const VALUED = new Set(
  '-c --config --ext --parser --parser-options --rule --rulesdir --plugin --ignore-path --ignore-pattern --max-warnings --cache-location --cache-strategy --cache-file --env --global -f --format -o --output-file --resolve-plugins-relative-to --report-unused-disable-directives-severity --flag --concurrency'.split(
    ' ',
  ),
);
const isPath = isPlace(VALUED);
const FORMAT = /^(-f|--format|-o|--output-file)$/;

const signs: ProjectMarkers = {
  files: ['eslint.config.*', '.eslintrc', '.eslintrc.*'],
  packageKey: 'eslintConfig',
  dependency: 'eslint',
  script: { names: ['lint', 'check'], find: byProgram('eslint') },
};

/** Runs ESLint, and reads its JSON report. */
export const eslint: Runner<ProblemReport> = {
  name: 'eslint',
  title: 'ESLint',
  language: 'javascript',
  signs,
  async commands({ root, target, fix }, files) {
    const tool = await findNodeTool(files, root, { packageName: 'eslint' });
    if (tool === undefined) return [];
    const args = ['--format=json', '--no-color', ...(fix ? ['--fix'] : [])];
    const { version } = tool;
    const last = target === undefined ? args : [...args, target];
    const drop = (word: string, before: string) =>
      FORMAT.test(word) ||
      FORMAT.test(before) ||
      /^--(format|output-file)=/.test(word) ||
      word === '--fix' ||
      (target !== undefined && isPath(word, before));
    const own = await ownCommand(files, root, { signs, additions: { last, drop } });
    const direct = {
      binary: 'node',
      args: [tool.file, ...args, target ?? '.'],
      cwd: root,
      version,
    };
    return own === undefined ? [direct] : [{ ...own, version }, direct];
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

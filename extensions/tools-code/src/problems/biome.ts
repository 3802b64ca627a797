import { z } from 'zod';
import { jsonDocument } from '../output/json-document.js';
import { findNodeTool } from '../project/node-tool.js';
import type { Runner } from '../project/runner.js';
import type { ProblemReport, Severity } from '../report.js';

const position = z.object({ line: z.int(), column: z.int() });

// https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
const report = z.object({
  diagnostics: z.array(
    z.object({
      message: z.string(),
      severity: z.string().optional(),
      code: z.object({ value: z.string() }).optional(),
      location: z.object({
        path: z.string().default(''),
        range: z.object({ start: position, end: position.optional() }).optional(),
      }),
    }),
  ),
});

const SEVERITIES: Readonly<Record<string, Severity>> = { ERROR: 'error', WARNING: 'warning' };

/** Biome, by its report in the Reviewdog Diagnostic Format. */
export const biome: Runner<ProblemReport> = {
  name: 'biome',
  title: 'Biome',
  language: 'javascript',
  signs: {
    files: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'],
    dependency: '@biomejs/biome',
    script: { names: ['lint', 'check'], word: /\bbiome\b/ },
  },
  async commands({ root, target, fix }, files) {
    const tool = await findNodeTool(files, root, {
      packageName: '@biomejs/biome',
      name: 'biome',
    });
    if (tool === undefined) return [];
    const options = ['--reporter=rdjson', '--max-diagnostics=none', '--colors=off'];
    const args = [tool.file, 'lint', ...options, ...(fix ? ['--write'] : []), target ?? root];
    return [{ binary: 'node', args, cwd: root, version: tool.version }];
  },
  parser: () =>
    jsonDocument(report, ({ diagnostics }) => ({
      problems: diagnostics.map(({ message, severity, code, location: { path, range } }) => ({
        file: path,
        line: range?.start.line ?? 0,
        column: range?.start.column ?? 0,
        ...(range?.end && { endLine: range.end.line, endColumn: range.end.column }),
        ...(code && { rule: code.value }),
        severity: SEVERITIES[severity ?? 'ERROR'] ?? 'info',
        message,
      })),
    })),
};

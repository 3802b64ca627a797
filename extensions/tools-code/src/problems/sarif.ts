import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { jsonDocument } from '../output/json-document.js';
import type { OutputParser } from '../output/output-parser.js';
import type { Problem, ProblemReport, Severity } from '../report.js';

const region = z.object({
  startLine: z.int().optional(),
  startColumn: z.int().optional(),
  endLine: z.int().optional(),
  endColumn: z.int().optional(),
});

const location = z.object({
  physicalLocation: z
    .object({
      artifactLocation: z.object({ uri: z.string().default('') }).optional(),
      region: region.optional(),
    })
    .optional(),
});

const result = z.object({
  ruleId: z.string().nullish(),
  level: z.string().default('warning'),
  message: z.object({ text: z.string().default('') }),
  locations: z.array(location).default([]),
});

// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
const report = z.object({
  version: z.literal('2.1.0'),
  runs: z.array(z.object({ results: z.array(result).nullish() })),
});

const SEVERITIES: Readonly<Record<string, Severity>> = { error: 'error', warning: 'warning' };

/** Reads the SARIF report that a linter writes to standard output. */
export function sarifParser(): OutputParser<ProblemReport> {
  return jsonDocument(report, ({ runs }) => ({
    problems: runs.flatMap(({ results }) => results ?? []).map(problemOf),
  }));
}

function problemOf({ ruleId, level, message, locations }: z.output<typeof result>): Problem {
  const { artifactLocation, region: at } = locations[0]?.physicalLocation ?? {};
  return {
    file: pathOf(artifactLocation?.uri ?? ''),
    line: at?.startLine ?? 0,
    column: at?.startColumn ?? 0,
    ...(at?.endLine !== undefined && { endLine: at.endLine }),
    ...(at?.endColumn !== undefined && { endColumn: at.endColumn }),
    ...(ruleId != null && { rule: ruleId }),
    severity: SEVERITIES[level] ?? 'info',
    message: message.text,
  };
}

/** Returns the path of a URI. Some linters write a path instead of a URI. */
function pathOf(uri: string): string {
  if (!/^file:/i.test(uri)) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

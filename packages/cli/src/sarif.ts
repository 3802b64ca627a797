import { isAbsolute, relative, sep } from 'node:path';
import { safeText } from './output.js';
import { VERSION } from './version.js';

/** A kind of result. */
export interface SarifRule {
  id: string;
  level: 'error' | 'warning' | 'note';
  text: string;
}

export interface SarifResult {
  rule: SarifRule;
  text: string;
  file: string;
  line?: number | undefined;
}

/**
 * Returns results as SARIF 2.1.0, for code scanning.
 *
 * @param name the name of the program that found them
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function sarifLog(
  name: string,
  rules: readonly SarifRule[],
  { results, cwd }: { results: readonly SarifResult[]; cwd: string },
) {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name,
            version: VERSION,
            rules: rules.map(({ id, level, text }) => ({
              id,
              shortDescription: { text },
              defaultConfiguration: { level },
            })),
          },
        },
        results: results.map(({ rule, text, file, line = 1 }) => ({
          ruleId: rule.id,
          level: rule.level,
          message: { text: safeText(text) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: uriOf(file, cwd),
                region: { startLine: line },
              },
            },
          ],
        })),
      },
    ],
  };
}

/** Relative to the root of the repository, which is the working directory in CI. */
function uriOf(file: string, cwd: string): { uri: string; uriBaseId?: string } {
  const below = relative(cwd, file);
  if (below.startsWith('..') || isAbsolute(below)) {
    return { uri: `file://${file.split(sep).map(encodeURIComponent).join('/')}` };
  }
  return { uri: below.split(sep).map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}

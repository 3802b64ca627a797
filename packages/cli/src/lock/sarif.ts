import { isAbsolute, relative, sep } from 'node:path';
import type { LockChange } from '@ethosagent/wiring';
import { safeText } from '../output.js';
import { VERSION } from '../version.js';

const RULES = {
  widened: {
    id: 'reach-widened',
    level: 'error',
    text: 'A tool may touch more than the reach lock says.',
  },
  narrowed: {
    id: 'reach-narrowed',
    level: 'note',
    text: 'A tool may touch less than the reach lock says.',
  },
  text: {
    id: 'reach-text',
    level: 'note',
    text: 'A tool differs from the reach lock in its text alone.',
  },
} as const satisfies Record<LockChange['kind'], object>;

/**
 * What changed as SARIF 2.1.0, for code scanning.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function sarifOf(
  changes: readonly LockChange[],
  { cwd, lockFile }: { cwd: string; lockFile: string },
) {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'ethosagent lock',
            version: VERSION,
            rules: Object.values(RULES).map(({ id, level, text }) => ({
              id,
              shortDescription: { text },
              defaultConfiguration: { level },
            })),
          },
        },
        results: changes.map(({ kind, personality, tool, server, message, file, line }) => {
          const who = [personality, server, tool].filter((part) => part !== undefined).join(' ');
          const uri = uriOf(file ?? lockFile, cwd);
          return {
            ruleId: RULES[kind].id,
            level: RULES[kind].level,
            message: { text: safeText(who === '' ? message : `${who}: ${message}`) },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: uri,
                  region: { startLine: line ?? 1 },
                },
              },
            ],
          };
        }),
      },
    ],
  };
}

/** Relative to the root of the repository, which is where CI works. */
function uriOf(file: string, cwd: string): { uri: string; uriBaseId?: string } {
  const below = relative(cwd, file);
  if (below.startsWith('..') || isAbsolute(below)) {
    return { uri: `file://${file.split(sep).map(encodeURIComponent).join('/')}` };
  }
  return { uri: below.split(sep).map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}

import { join } from 'node:path';
import { type SarifResult, type SarifRule, sarifLog } from '../sarif.js';
import type { ReachKind, ReachMatrix } from './inspect-api.js';

const RULES = {
  host: { id: 'reach-host', level: 'note', text: 'A tool may request a host.' },
  path: { id: 'reach-path', level: 'note', text: 'A tool may read or write below a path.' },
  secret: { id: 'reach-secret', level: 'note', text: 'A tool may use a secret.' },
  binary: { id: 'reach-binary', level: 'note', text: 'A tool may run a program.' },
  other: { id: 'reach-other', level: 'note', text: 'A tool has another capability.' },
} as const satisfies Record<ReachKind, SarifRule>;
const UNCONFINED: SarifRule = {
  id: 'reach-unconfined',
  level: 'warning',
  text: 'A tool keeps its own authority, and nothing bounds it.',
};

/** Returns what each tool may touch as SARIF, at the line of the personality that allows it. */
export function reachSarif(
  { personality, tools, rows }: ReachMatrix,
  { home, cwd }: { home: string; cwd: string },
) {
  const file = join(home, 'personalities', personality, 'config.yaml');
  const results: SarifResult[] = tools.flatMap(({ name, unconfined }) =>
    unconfined ? { rule: UNCONFINED, text: `${personality} ${name}: unconfined`, file } : [],
  );
  for (const { kind, name, cells } of rows) {
    for (const [index, { may, note, policy }] of Object.entries(cells)) {
      const tool = tools[Number(index)]?.name ?? '';
      const what = [may === 'yes' ? kind : may, name, ...(note === undefined ? [] : [`(${note})`])];
      results.push({
        rule: RULES[kind],
        text: `${personality} ${tool}: ${what.join(' ')}`,
        file,
        line: lineOf(policy),
      });
    }
  }
  return sarifLog('ethosagent reach', [...Object.values(RULES), UNCONFINED], { results, cwd });
}

/** The line of the first part of the policy that is in the file of the personality. */
function lineOf(policy: readonly string[]): number | undefined {
  for (const text of policy) {
    const [, line] = /config\.yaml:(\d+)(?!\S)/.exec(text) ?? [];
    if (line !== undefined) return Number(line);
  }
  return undefined;
}

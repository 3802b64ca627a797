import type { LockChange } from '@ethosagent/wiring';
import { type SarifRule, sarifLog } from '../sarif.js';
import type { PlacedChange } from './tell-lock-changes.js';

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
} as const satisfies Record<LockChange['kind'], SarifRule>;

/** Returns the changes as SARIF, each at the line of the personality, or otherwise of the tool. */
export function sarifOf(
  changes: readonly PlacedChange[],
  { cwd, lockFile }: { cwd: string; lockFile: string },
) {
  const results = changes.map(
    ({ kind, personality, tool, server, message, file, line, policy, source }) => {
      const who = [personality, server, tool].filter((part) => part !== undefined).join(' ');
      const isOfTool = policy === undefined && source?.file !== undefined;
      return {
        rule: RULES[kind],
        text: who === '' ? message : `${who}: ${message}`,
        file: (isOfTool ? source.file : file) ?? lockFile,
        line: isOfTool ? source.line : line,
      };
    },
  );
  return sarifLog('ethosagent lock', Object.values(RULES), { results, cwd });
}

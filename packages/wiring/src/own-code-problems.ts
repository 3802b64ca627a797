import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expandToolset, isWithin } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { PersonalityReach } from './personality-reach.js';
import { placeOfEntry } from './problems.js';
import type { RuntimeProblem } from './runtime-problem.js';

const KEY = 'fs_reach.write';

/** Where this program was loaded from. */
const CODE = dirname(fileURLToPath(import.meta.url));

export interface OwnCodeSources {
  file: string;
  reach: Pick<PersonalityReach, 'write' | 'deny'>;
  tools: readonly AnyTool[];
  /** The folder of the program's code; where this module is if absent. */
  code?: string;
}

/**
 * Warns if tools may write the code of the program that bounds them. What they write there, the
 * program loads later, with all its rights, and outside of every sandbox.
 */
export function ownCodeProblems(
  personality: PersonalityConfig,
  { file, reach, tools, code = CODE }: OwnCodeSources,
): RuntimeProblem[] {
  const { names } = expandToolset(personality.toolset, tools);
  const writer = tools.find(
    ({ name, capabilities: { fs_reach } }) =>
      (fs_reach?.write?.length ?? 0) > 0 && (names === undefined || names.includes(name)),
  );
  if (writer === undefined) return [];
  const own = realOf(code);
  const root = reach.write.find((each) => isWithin(own, realOf(each)));
  if (root === undefined || reach.deny.some((each) => isWithin(own, realOf(each)))) return [];
  const message = `${placeOfEntry(file, personality, { key: KEY })}: ${KEY}: ${writer.name} may write ${own}, the code of this program, and so do whatever this program may; let it write a folder without the program and its node_modules`;
  return [{ file, key: KEY, tool: writer.name, message, heldBack: false }];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

import { mcpServerOf } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { RuntimeProblem } from './runtime-problem.js';

/** What there is of a personality whose file has mistakes. */
export interface SoundKeys {
  /** The keys without a mistake; of a list of names with one, the names that can be read. */
  readonly config: PersonalityConfig;
  readonly isSound: (key: string) => boolean;
}

/** Lists of names, of which each can be judged without the others. */
export const LISTS_OF_NAMES = ['toolset', 'mcp_servers', 'plugins'] as const;
/** What depends on nothing else in the file. */
const ALONE: readonly string[] = [...LISTS_OF_NAMES, 'tool_settings'];

const known = new WeakMap<EthosError, SoundKeys>();

/** Notes what of a file can be judged, beside the error that tells of its mistakes. */
export function noteSoundKeys(error: EthosError, sound: SoundKeys): void {
  known.set(error, sound);
}

/**
 * An error of a personality's file together with what else is wrong with it, in the order of its
 * lines, so that one mistake does not hide the others. Other errors are as they were.
 *
 * @param find looks for problems in what of the file can be judged
 */
export function withOtherProblems(
  error: unknown,
  find: (config: PersonalityConfig) => readonly RuntimeProblem[],
): unknown {
  const sound = error instanceof EthosError ? known.get(error) : undefined;
  if (!(error instanceof EthosError) || sound === undefined) return error;
  const told = error.message.slice(`${error.code}: `.length).split('\n');
  const others = find(sound.config)
    .filter((problem) => countsIn(problem, sound))
    .map(({ message }) => message)
    .filter((message) => !told.includes(message));
  if (others.length === 0) return error;
  return new EthosError(error.code, [...told, ...others].sort(byPlace).join('\n'), {
    cause: error,
  });
}

/**
 * Whether a problem would be one without the mistakes, too. The servers of a personality whose file
 * has some are not started, so that nobody knows their tools.
 */
function countsIn({ key, tool }: RuntimeProblem, { isSound }: SoundKeys): boolean {
  if (key === 'mcp_servers' || mcpServerOf(tool) !== undefined) return false;
  const [top = ''] = key.split(/[.[]/);
  return ALONE.includes(top) || (isSound(top) && isSound('toolset'));
}

function byPlace(one: string, other: string): number {
  const [line, column] = placeOf(one);
  const [otherLine, otherColumn] = placeOf(other);
  return line - otherLine || column - otherColumn;
}

/** What names no place comes last. */
function placeOf(text: string): [line: number, column: number] {
  const [, line = Number.POSITIVE_INFINITY, column = 0] = /:(\d+):(\d+): /.exec(text) ?? [];
  return [Math.min(Number(line), Number.MAX_SAFE_INTEGER), Number(column)];
}

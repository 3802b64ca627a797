import { mcpServerOf } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import type { RuntimeProblem } from './runtime-problem.js';

/** The valid parts of a personality whose file has mistakes. */
export interface SoundKeys {
  /** The keys without a mistake. Of a list of names with a mistake, the valid names. */
  readonly config: PersonalityConfig;
  readonly isSound: (key: string) => boolean;
  /** How many lines of the error are mistakes of syntax. They stay first. */
  readonly syntaxErrors: number;
}

/** Lists of names. Each name can be checked without the others. */
export const LISTS_OF_NAMES = ['toolset', 'mcp_servers', 'plugins'] as const;
/** The keys that depend on nothing else in the file. */
const ALONE: readonly string[] = [...LISTS_OF_NAMES, 'tool_settings'];

const known = new WeakMap<EthosError, SoundKeys>();

const others = new WeakMap<object, readonly RuntimeProblem[]>();

/**
 * Returns the problems that a message tells of besides the mistakes for which the file is invalid.
 *
 * @param error that a runtime threw about a personality
 * @returns the problems, each with one line of the message; none of another error
 */
export function otherProblemsOf(error: unknown): readonly RuntimeProblem[] {
  return others.get(Object(error)) ?? [];
}

/** Stores the valid parts of a file together with the error about its mistakes. */
export function noteSoundKeys(error: EthosError, sound: SoundKeys): void {
  known.set(error, sound);
}

/**
 * Adds the other problems of a personality's file to an error about it, in the order of lines, so
 * that one mistake does not hide the others. Other errors are returned unchanged.
 *
 * @param find looks for problems in the valid parts of the file
 */
export function withOtherProblems(
  error: unknown,
  find: (config: PersonalityConfig) => readonly RuntimeProblem[],
): unknown {
  const sound = error instanceof EthosError ? known.get(error) : undefined;
  if (!(error instanceof EthosError) || sound === undefined) return error;
  const told = error.message.slice(`${error.code}: `.length).split('\n');
  const found = find(sound.config)
    .filter((problem) => countsIn(problem, sound))
    .filter(({ message }) => !told.includes(message));
  if (found.length === 0) return error;
  const syntax = told.slice(0, sound.syntaxErrors);
  const messages = found.map(({ message }) => message);
  const rest = [...told.slice(sound.syntaxErrors), ...messages].sort(byPlace);
  const all = new EthosError(error.code, [...syntax, ...rest].join('\n'), { cause: error });
  others.set(all, found);
  return all;
}

/**
 * Whether a problem would also exist without the mistakes. The servers of a personality with
 * mistakes are not started, so their tools are not known. Behind a mistake of syntax, a key may be
 * lost that is there.
 */
function countsIn({ key, tool }: RuntimeProblem, { isSound, syntaxErrors }: SoundKeys): boolean {
  if (key === 'mcp_servers' || mcpServerOf(tool) !== undefined) return false;
  const [top = ''] = key.split(/[.[]/);
  if (ALONE.includes(top)) return true;
  return syntaxErrors === 0 && isSound(top) && isSound('toolset');
}

function byPlace(one: string, other: string): number {
  const [line, column] = placeOf(one);
  const [otherLine, otherColumn] = placeOf(other);
  return line - otherLine || column - otherColumn;
}

/** A text without a place comes last. */
function placeOf(text: string): [line: number, column: number] {
  const [, line = Number.POSITIVE_INFINITY, column = 0] = /:(\d+):(\d+): /.exec(text) ?? [];
  return [Math.min(Number(line), Number.MAX_SAFE_INTEGER), Number(column)];
}

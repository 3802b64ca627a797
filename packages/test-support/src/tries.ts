import type { TestContext } from 'vitest';

/** Where nothing else is said, a nightly run repeats an attack this many times as often as a check. */
const NIGHTLY_FACTOR = 10;

/** How often an attack is tried. */
export interface Tries {
  /** In every run of the tests. */
  check: number;
  /** In the long run of each night. Ten times `check` when absent, and never more than `long`. */
  nightly?: number;
  /** In a full run. */
  long: number;
}

/** How often an attack is tried in this run. */
export function tries({ check, nightly = check * NIGHTLY_FACTOR, long }: Tries): number {
  if (!isLongRun()) return check;
  return sizeOfRun() === 'full' ? long : Math.min(long, nightly);
}

/** Whether the tests run all that they have (`ETHOS_TRIES=long`, or `full`, with all counts). */
export function isLongRun(): boolean {
  return ['long', 'full'].includes(sizeOfRun() ?? '');
}

/** What a check leaves to the long run: `settings` in a check, nothing of it in a long run. */
export function unlessLong<T extends object>(settings: T): Partial<T> {
  return isLongRun() ? {} : settings;
}

function sizeOfRun(): string | undefined {
  // biome-ignore lint/style/noProcessEnv: a suite has no caller that could pass it in; the test runner's environment is its command line
  return process.env.ETHOS_TRIES;
}

/**
 * The rows of a table of like cases that are tried: all of them in a long run, in a check those that
 * stand for their kind.
 */
export function inCheck<T>(rows: readonly T[], standsForItsKind: (row: T) => boolean): T[] {
  return rows.filter((row) => isLongRun() || standsForItsKind(row));
}

/** The seed of this run of the tests: `ETHOS_SEED`, or 0. */
export function seedOfRun(): number {
  // biome-ignore lint/style/noProcessEnv: see `isLongRun`
  const given = Number(process.env.ETHOS_SEED);
  return Number.isInteger(given) ? given : 0;
}

/** Milliseconds after which a test counts as hanging: in a long run an hour, else the runner's. */
export function runTimeoutMs(): number | undefined {
  return isLongRun() ? 3_600_000 : undefined;
}

/** Writes down that a test tried `count` times to break a promise, for the table at the end. */
export function countTries(
  { task }: Pick<TestContext, 'task'>,
  promised: string,
  count: number,
): void {
  const meta: { tries?: Partial<Record<string, number>> } & object = Object(task.meta);
  meta.tries = { ...meta.tries, [promised]: (meta.tries?.[promised] ?? 0) + count };
}

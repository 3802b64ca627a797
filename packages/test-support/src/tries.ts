import type { TestContext } from 'vitest';

/** How often an attack is tried: `check` in every run of the tests, `long` in a long one. */
export function tries(counts: { check: number; long: number }): number {
  return isLongRun() ? counts.long : counts.check;
}

/** Whether the tests run with their full counts (`ETHOS_TRIES=long`). */
export function isLongRun(): boolean {
  // biome-ignore lint/style/noProcessEnv: a suite has no caller that could pass it in; the test runner's environment is its command line
  return process.env.ETHOS_TRIES === 'long';
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

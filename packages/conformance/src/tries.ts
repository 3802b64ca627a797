import type { TestContext } from 'vitest';

/** The promises whose attempts to break them are counted, in the words of `SECURITY.md`. */
export const PROMISES = {
  network: 'connections to an address outside the policy',
  reach: 'reads or writes outside the reach',
  processes: 'processes alive a second after a time-out or an abort',
  secrets: 'secrets in results, errors, events or logs',
  'key-value': 'acknowledged writes lost, or keys of another namespace',
  files: 'torn files',
  batches: 'batches that threw, hung or mixed',
  audit: 'accesses missing, doubled or out of order in the audit log',
  quotas: 'accesses over a quota',
  untrusted: 'untrusted text that closed or forged its marking',
  fuzz: 'properties of pure functions that did not hold',
} as const;

export type Promised = keyof typeof PROMISES;

/** How often an attack is tried: `check` in every run of the tests, `long` in a long one. */
export function tries(counts: { check: number; long: number }): number {
  return isLongRun() ? counts.long : counts.check;
}

/** Whether the tests run with their full counts (`ETHOS_TRIES=long`). */
export function isLongRun(): boolean {
  // biome-ignore lint/style/noProcessEnv: a suite has no caller that could pass it in; the test runner's environment is its command line
  return process.env.ETHOS_TRIES === 'long';
}

/** Milliseconds after which a test counts as hanging: in a long run an hour, else the runner's. */
export function runTimeoutMs(): number | undefined {
  return isLongRun() ? 3_600_000 : undefined;
}

/** Writes down that a test tried `count` times to break a promise, for the table at the end. */
export function countTries(
  { task }: Pick<TestContext, 'task'>,
  promised: Promised,
  count: number,
): void {
  const meta: { tries?: Partial<Record<string, number>> } & object = Object(task.meta);
  meta.tries = { ...meta.tries, [promised]: (meta.tries?.[promised] ?? 0) + count };
}

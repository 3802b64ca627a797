import { measure } from 'mitata';

/** One of the things that are compared. */
export interface Contender {
  name: string;
  /** Operations in one `run`. */
  operations: number;
  run: () => unknown;
  goal?: Goal;
}

/** Another contender, and the highest ratio to its time that is the goal, if there is one. */
export interface Goal {
  atMost?: number;
  of: string;
}

const ROUNDS = 7;

/** Runs contenders in turns, so that a busy machine is busy for all of them, and prints medians. */
export async function sideBySide(title: string, contenders: readonly Contender[]): Promise<void> {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, operations, run } of contenders) {
      const { p50 } = await measure(run, { min_cpu_time: 40e6, min_samples: 5 });
      samples.get(name)?.push(p50 / operations);
    }
  }
  const medians = new Map([...samples].map(([name, times]) => [name, median(times)]));
  printTable(title, contenders, medians);
}

/** Prints the times of contenders in nanoseconds, beside their goals. */
export function printTable(
  title: string,
  contenders: readonly Pick<Contender, 'name' | 'goal'>[],
  times: ReadonlyMap<string, number>,
): void {
  console.log(`\n${title}`);
  for (const { name, goal } of contenders) {
    const time = times.get(name) ?? Number.NaN;
    console.log(
      `  ${name.padEnd(52)} ${readable(time).padStart(12)}  ${verdict(time, goal, times)}`,
    );
  }
}

function verdict(time: number, goal: Goal | undefined, times: ReadonlyMap<string, number>): string {
  if (goal === undefined) return '';
  const ratio = `${(time / (times.get(goal.of) ?? Number.NaN)).toFixed(2)}x ${goal.of}`;
  if (goal.atMost === undefined) return ratio;
  const met = time / (times.get(goal.of) ?? Number.NaN) <= goal.atMost ? 'met' : 'missed';
  return `${ratio} (goal: at most ${Number(goal.atMost.toFixed(3))}x, ${met})`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function readable(nanoseconds: number): string {
  if (nanoseconds < 1_000) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1_000_000) return `${(nanoseconds / 1_000).toFixed(2)} µs`;
  return `${(nanoseconds / 1_000_000).toFixed(2)} ms`;
}

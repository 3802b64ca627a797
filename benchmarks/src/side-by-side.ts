import { measure } from 'mitata';

/** One of the things that are compared. */
export interface Contender {
  name: string;
  /** Operations in one `run`. */
  operations: number;
  run: () => unknown;
  /** The highest ratio to another contender's time that is the goal. */
  goal?: { atMost: number; of: string };
  /** The contender that its time is a multiple of, where there is no goal. */
  beside?: string;
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

/** What a row of a table says beside its time. */
export type Compared = Pick<Contender, 'name' | 'goal' | 'beside'>;

/** Prints the times of contenders in nanoseconds, beside their goals. */
export function printTable(
  title: string,
  contenders: readonly Compared[],
  times: ReadonlyMap<string, number>,
): void {
  console.log(`\n${title}`);
  for (const contender of contenders) {
    const { name } = contender;
    const time = times.get(name) ?? Number.NaN;
    console.log(
      `  ${name.padEnd(52)} ${readable(time).padStart(12)}  ${verdict(time, contender, times)}`,
    );
  }
}

function verdict(
  time: number,
  { goal, beside }: Compared,
  times: ReadonlyMap<string, number>,
): string {
  if (goal === undefined) {
    if (beside === undefined) return '';
    const than = times.get(beside) ?? Number.NaN;
    return `${(time / than).toFixed(2)}x, ${readable(time - than)} more than ${beside}`;
  }
  const ratio = time / (times.get(goal.of) ?? Number.NaN);
  const met = ratio <= goal.atMost ? 'met' : 'missed';
  return `${ratio.toFixed(2)}x ${goal.of} (goal: at most ${Number(goal.atMost.toFixed(3))}x, ${met})`;
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

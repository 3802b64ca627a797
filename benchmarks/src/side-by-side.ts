import { measure } from 'mitata';
import { keepTable, type Row } from './results.js';

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
  printTable(title, contenders, { samples, pick: median, unit: nanoseconds });
}

/** What a row of a table says beside its figure. */
export type Compared = Pick<Contender, 'name' | 'goal' | 'beside'>;

/** The samples of each contender, and how a figure is made of them and printed. */
export interface Measured {
  samples: ReadonlyMap<string, readonly number[]>;
  /** The figure of a row, from its samples. */
  pick: (samples: readonly number[]) => number;
  unit: (figure: number) => string;
}

/** Prints the figures of contenders beside their goals and their noise, and keeps them. */
export function printTable(
  title: string,
  contenders: readonly Compared[],
  { samples, pick, unit }: Measured,
): void {
  const figures = new Map([...samples].map(([name, values]) => [name, pick(values)]));
  console.log(`\n${title}`);
  const rows = contenders.map((contender): Row => {
    const { name } = contender;
    const values = samples.get(name) ?? [];
    const figure = figures.get(name) ?? Number.NaN;
    const row = {
      name,
      figure,
      told: unit(figure),
      noise: noiseOf(values),
      verdict: verdict(figure, contender, { figures, unit }),
    };
    const noise = `± ${Math.round(row.noise * 100)} %`;
    console.log(
      `  ${name.padEnd(52)} ${row.told.padStart(12)} ${noise.padStart(7)}  ${row.verdict}`,
    );
    return row;
  });
  keepTable(title, rows);
}

function verdict(
  figure: number,
  { goal, beside }: Compared,
  { figures, unit }: { figures: ReadonlyMap<string, number>; unit: Measured['unit'] },
): string {
  if (goal === undefined) {
    if (beside === undefined) return '';
    const than = figures.get(beside) ?? Number.NaN;
    const more = `${unit(figure - than)} more than ${beside}`;
    return than > 0 ? `${(figure / than).toFixed(2)}x, ${more}` : more;
  }
  const ratio = figure / (figures.get(goal.of) ?? Number.NaN);
  const met = ratio <= goal.atMost ? 'met' : 'missed';
  return `${ratio.toFixed(2)}x ${goal.of} (goal: at most ${Number(goal.atMost.toFixed(3))}x, ${met})`;
}

/** Half of the distance between the quartiles, as a share of the median. */
function noiseOf(values: readonly number[]): number {
  const middle = median(values);
  if (values.length < 3 || middle === 0) return 0;
  return (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / middle;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * at)] ?? Number.NaN;
}

/** A time in nanoseconds. */
export function nanoseconds(time: number): string {
  if (Math.abs(time) < 1_000) return `${time.toFixed(0)} ns`;
  if (Math.abs(time) < 1_000_000) return `${(time / 1_000).toFixed(2)} µs`;
  return `${(time / 1_000_000).toFixed(2)} ms`;
}

/** A size in bytes. */
export function bytes(size: number): string {
  if (Math.abs(size) < 1_024) return `${size.toFixed(0)} B`;
  if (Math.abs(size) < 1_048_576) return `${(size / 1_024).toFixed(2)} KiB`;
  return `${(size / 1_048_576).toFixed(2)} MiB`;
}

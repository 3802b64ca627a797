import type { ToolClient } from './clients.js';

/** A kind of call, and how it is made. */
export interface Task {
  name: string;
  tool: string;
  args: Record<string, unknown>;
  /** How many calls are on their way at once. */
  atOnce: number;
}

/** What calls of a task took, in milliseconds each, in the round in which they took least. */
export interface Row {
  task: string;
  officialMs: number;
  bridgeMs: number;
  ratio: number;
}

const WARM_ROUNDS = 10;

export const TASKS: readonly Task[] = [
  { name: 'a short text', tool: 'echo', args: { message: 'hello' }, atOnce: 1 },
  { name: 'a text of 50 KB', tool: 'echo', args: { message: 'x'.repeat(50_000) }, atOnce: 1 },
  { name: 'a short text, 16 at once', tool: 'echo', args: { message: 'hello' }, atOnce: 16 },
];

/** Calls both in turns, so that a busy machine is busy for both. */
export async function contest(
  task: Task,
  { official, bridge }: { official: ToolClient; bridge: ToolClient },
  { rounds, calls }: { rounds: number; calls: number },
): Promise<Row> {
  const times: { official: number; bridge: number }[] = [];
  // What is called first is compiled then.
  for (const client of [official, bridge]) await timeOf(client, task, calls * WARM_ROUNDS);
  for (let round = 0; round < rounds; round++) {
    // Whoever goes second may find the machine warmer.
    const first = round % 2 === 0 ? await timeOf(official, task, calls) : undefined;
    const second = await timeOf(bridge, task, calls);
    times.push({ official: first ?? (await timeOf(official, task, calls)), bridge: second });
  }
  // On a busy machine the least is nearest to what an idle one would say.
  const officialMs = Math.min(...times.map((time) => time.official));
  const bridgeMs = Math.min(...times.map((time) => time.bridge));
  return { task: task.name, officialMs, bridgeMs, ratio: bridgeMs / officialMs };
}

/** Milliseconds a call: the median of the calls, which a pause of the machine does not move. */
async function timeOf(client: ToolClient, task: Task, calls: number): Promise<number> {
  const took: number[] = [];
  for (let made = 0; made < calls; made += task.atOnce) {
    const before = performance.now();
    const answers = await Promise.all(
      Array.from({ length: task.atOnce }, () => client.call(task.tool, task.args)),
    );
    took.push((performance.now() - before) / task.atOnce);
    if (answers.some((text) => !text.includes(String(task.args.message)))) {
      throw new Error(`${task.tool} did not answer with what it was sent`);
    }
  }
  return median(took);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

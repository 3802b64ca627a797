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
  /** Of the official client whose calls can be cancelled and tell of their progress. */
  followedMs: number;
  bridgeMs: number;
  ratio: number;
}

/** What is compared. */
export interface Contenders {
  official: ToolClient;
  followed: ToolClient;
  bridge: ToolClient;
}

const WARM_ROUNDS = 10;

export const TASKS: readonly Task[] = [
  { name: 'a short text', tool: 'echo', args: { message: 'hello' }, atOnce: 1 },
  { name: 'a text of 50 KB', tool: 'echo', args: { message: 'x'.repeat(50_000) }, atOnce: 1 },
  { name: 'a short text, 16 at once', tool: 'echo', args: { message: 'hello' }, atOnce: 16 },
];

/** Calls each in turns, so that a busy machine is busy for all. */
export async function contest(
  task: Task,
  clients: Contenders,
  { rounds, calls }: { rounds: number; calls: number },
): Promise<Row> {
  // The first calls are compiled during this run.
  for (const client of Object.values(clients)) await timeOf(client, task, calls * WARM_ROUNDS);
  // On a busy machine, the smallest figure is nearest to that of an idle one.
  const least = { official: Infinity, followed: Infinity, bridge: Infinity };
  for (let round = 0; round < rounds; round++) {
    const order = ['official', 'followed', 'bridge'] as const;
    // A later contender may profit from a warmer machine, so the order changes.
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      least[name] = Math.min(least[name], await timeOf(clients[name], task, calls));
    }
  }
  return {
    task: task.name,
    officialMs: least.official,
    followedMs: least.followed,
    bridgeMs: least.bridge,
    ratio: least.bridge / least.official,
  };
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

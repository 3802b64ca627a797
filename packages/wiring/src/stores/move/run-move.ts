import { createHash } from 'node:crypto';
import { EthosError, errorCodeOf } from '@ethosagent/types';
import type { Move, MoveItem } from './move-item.js';

/** The outcome of a move for one store. */
export interface MovedStore {
  store: string;
  /** How many items the home has. */
  items: number;
  /** How many items this run wrote to the store. */
  moved: number;
  /** How many items the store already had with the same content. */
  there: number;
  /**
   * The names of items that have another content in the store and stayed as they are there. At most
   * 20, sorted; `otherCount` is the number of all of them.
   */
  others: readonly string[];
  otherCount: number;
  /** The items that could not be moved, and why. At most 20. */
  failures: readonly { item: string; message: string }[];
  /** Whether all items were read again on both sides and are the same, and none failed. */
  verified: boolean;
  /** SHA-256 of the names and contents that were read back. Absent for secrets. */
  digest?: string;
}

const MAX_TOLD = 20;
/** Errors that concern only one item. */
const OF_ONE = new Set([
  'FILE_TOO_LARGE',
  'KEY_INVALID',
  'MEMORY_AMBIGUOUS',
  'MEMORY_TOO_LARGE',
  'SECRET_NOT_FOUND',
  'STORAGE_FAILED',
  'VALUE_INVALID',
]);

/** Copies what a store lacks, and then compares everything again on both sides. */
export async function runMove(
  store: string,
  move: Move,
  {
    replace,
    signal,
    onProgress,
  }: {
    replace: boolean;
    signal: AbortSignal | undefined;
    onProgress: ((store: string, done: number) => void) | undefined;
  },
): Promise<MovedStore> {
  const counts = { moved: 0, there: 0, other: 0 };
  const others: string[] = [];
  const failures: { item: string; message: string }[] = [];
  let done = 0;
  await each(move, signal, async (item) => {
    try {
      const outcome = await item.copy(replace);
      counts[outcome] += 1;
      if (outcome === 'other' && others.length < MAX_TOLD) others.push(item.name);
    } catch (error) {
      if (!OF_ONE.has(errorCodeOf(error) ?? '')) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (failures.length < MAX_TOLD) failures.push({ item: item.name, message });
    }
    done += 1;
    onProgress?.(store, done);
  });
  const { items, differ, digest } = await verify(move, signal);
  const isWhole = differ === 0 && failures.length === 0;
  return {
    store,
    items,
    ...{ moved: counts.moved, there: counts.there, otherCount: counts.other },
    others: others.sort(),
    failures,
    verified: isWhole,
    ...(store !== 'secrets' && { digest }),
  };
}

async function verify(move: Move, signal: AbortSignal | undefined) {
  const found = new Map<string, string>();
  let items = 0;
  let differ = 0;
  await each(move, signal, async (item) => {
    const here = await digestOr(item.source());
    if (here === undefined) return;
    items += 1;
    const there = await digestOr(item.target());
    if (here !== there || here === UNREADABLE) differ += 1;
    found.set(item.name, there ?? '');
  });
  const hash = createHash('sha256');
  for (const [name, digest] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([name, digest]));
  }
  return { items, differ, digest: hash.digest('hex') };
}

const UNREADABLE = 'unreadable';

/** An item that can't be read counts as different. */
async function digestOr(reading: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (OF_ONE.has(errorCodeOf(error) ?? '')) return UNREADABLE;
    throw error;
  }
}

async function each(
  { items, atOnce }: Move,
  signal: AbortSignal | undefined,
  work: (item: MoveItem) => Promise<void>,
): Promise<void> {
  let batch: MoveItem[] = [];
  const flush = async () => {
    if (signal?.aborted === true) {
      throw new EthosError('CALL_ABORTED', 'the move was stopped; run it again to go on');
    }
    // Waits for all of them, so that nothing runs after the stores are closed.
    const settled = await Promise.allSettled(batch.map(work));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    batch = [];
  };
  for await (const item of items()) {
    batch.push(item);
    if (batch.length === atOnce) await flush();
  }
  await flush();
}

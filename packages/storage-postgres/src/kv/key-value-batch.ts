import type { Database, Statement } from '../database/database.js';
import { closedError } from '../database/store-errors.js';

/** The most calls and bytes in one batch, so that no batch takes long. */
const MAX_CALLS = 512;
const MAX_BYTES = 8_000_000;

/** A call for one key. */
export interface KeyCall {
  kind: 'get' | 'set' | 'delete' | 'increment' | 'compareAndSet';
  scope: string;
  key: string;
  value?: string;
  expected?: string | null;
  by?: number;
  lifetimeMs?: number | null;
  /** The time of the call, in milliseconds since the epoch. The server's clock when absent. */
  now?: number | undefined;
}

/** The outcome of a call. */
export interface KeyAnswer {
  done: boolean;
  result: Buffer | null;
}

interface Waiting {
  run: (() => Promise<void>) | undefined;
  call: KeyCall | undefined;
  bytes: number;
  resolve: (answer: KeyAnswer) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends the calls of a store in order. Calls that are made while a batch is being sent go together
 * in the next batch, as one statement.
 */
export class KeyValueQueue {
  readonly #database: Database;
  readonly #batch: Statement;
  #waiting: Waiting[] = [];
  #sending = false;
  #closed = false;
  #idle: Array<() => void> = [];

  constructor(database: Database) {
    this.#database = database;
    this.#batch = {
      name: 'ethos_key_value_batch',
      text: `SELECT done, result FROM ${database.schema}.key_value_batch(
        $1, $2, $3, $4, $5, $6, $7, $8)`,
    };
  }

  /** Runs a call after the earlier ones. */
  call(call: KeyCall): Promise<KeyAnswer> {
    const { key, value = '', expected } = call;
    const bytes = key.length + value.length + (expected?.length ?? 0);
    return this.#add({ call, run: undefined, bytes });
  }

  /** Runs other work, at a time when no batch is being sent. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done: T[] = [];
    await this.#add({
      call: undefined,
      bytes: 0,
      run: async () => {
        done.push(await work());
      },
    });
    const [result] = done;
    return result as T;
  }

  /** Refuses later calls, and waits for the earlier ones. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#sending) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  get closed(): boolean {
    return this.#closed;
  }

  #add(work: Pick<Waiting, 'call' | 'run' | 'bytes'>): Promise<KeyAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(closedError());
        return;
      }
      this.#waiting.push({ ...work, resolve, reject });
      if (this.#sending) return;
      this.#sending = true;
      // Calls that are made in the rest of this turn of the event loop join the batch.
      setImmediate(() => void this.#send());
    });
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      const [first] = batch;
      if (first?.run === undefined) await this.#sendCalls(batch);
      else await first.run().then(() => first.resolve({ done: true, result: null }), first.reject);
    }
    this.#sending = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Takes the next calls for a batch, or the next work that runs alone. */
  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { run, bytes: more } of this.#waiting) {
      bytes += more;
      const isFull = count === MAX_CALLS || (count > 0 && bytes > MAX_BYTES);
      if (isFull || (run !== undefined && count > 0)) break;
      count += 1;
      if (run !== undefined) break;
    }
    return this.#waiting.splice(0, count);
  }

  async #sendCalls(batch: readonly Waiting[]): Promise<void> {
    try {
      const calls = batch.flatMap(({ call }, index) => (call ? [{ call, index }] : []));
      // The sort keeps the order of calls for the same key. All processes lock keys in the same
      // order, so that none waits for another in a circle.
      calls.sort((a, b) => compare(a.call.scope, b.call.scope) || compare(a.call.key, b.call.key));
      const answers = await this.#database.run<KeyAnswer>(
        { ...this.#batch, isRepeatable: calls.every(({ call }) => call.kind === 'get') },
        columnsOf(calls.map(({ call }) => call)),
      );
      calls.forEach(({ index }, place) => {
        const answer = answers[place];
        if (answer !== undefined) batch[index]?.resolve(answer);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function columnsOf(calls: readonly KeyCall[]): unknown[] {
  const bytes = (text: string | null | undefined) => (text == null ? null : Buffer.from(text));
  return [
    calls.map(({ kind }) => kind),
    calls.map(({ scope }) => bytes(scope)),
    calls.map(({ key }) => bytes(key)),
    calls.map(({ value }) => bytes(value)),
    calls.map(({ expected }) => bytes(expected)),
    calls.map(({ by }) => by ?? null),
    calls.map(({ lifetimeMs }) => lifetimeMs ?? null),
    calls.map(({ now }) => now ?? null),
  ];
}

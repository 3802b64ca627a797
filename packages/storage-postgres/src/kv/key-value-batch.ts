import type { Database, Statement } from '../database/database.js';
import { closedError } from '../database/store-errors.js';

/** One batch holds no more than this, so that none takes long. */
const MAX_CALLS = 512;
const MAX_BYTES = 8_000_000;

/** A call of one key. */
export interface KeyCall {
  kind: 'get' | 'set' | 'delete' | 'increment' | 'compareAndSet';
  scope: string;
  key: string;
  value?: string;
  expected?: string | null;
  by?: number;
  lifetimeMs?: number | null;
  /** Milliseconds since the epoch; the server's clock when absent. */
  now?: number | undefined;
}

/** What came of it. */
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
 * Sends the calls of a store in order: what is asked for while one batch is on its way goes with the
 * next one, in one statement.
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

  /** Runs a call after those before it. */
  call(call: KeyCall): Promise<KeyAnswer> {
    const { key, value = '', expected } = call;
    const bytes = key.length + value.length + (expected?.length ?? 0);
    return this.#add({ call, run: undefined, bytes });
  }

  /** Runs something else instead of a call. */
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

  /** Refuses what comes later, and waits for what was asked for. */
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
      // What the rest of this turn asks for goes with it.
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

  /** The next calls, or the one thing that runs alone. */
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
      // Calls of one key stay in their order; keys are locked in one order by all processes.
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

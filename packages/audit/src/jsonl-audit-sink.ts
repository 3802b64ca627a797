import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate } from 'node:timers';
import { assertNumbers, assertOptions, type OptionNames } from '@ethosagent/policy';
import type { AuditCall, AuditEvent, AuditSink } from '@ethosagent/types';
import { chainHash } from './chain.js';
import { ChainedLog } from './chained-log.js';
import { failed } from './log-errors.js';
import { whenProcessEnds } from './process-end.js';

/** The file of the log, its key, and the limits of its files. */
export interface JsonlAuditOptions {
  path: string;
  /** The size in bytes beyond which the file is rotated to `<path>.1`. 10 MiB when absent. */
  maxBytes?: number;
  /** The number of rotated files that are kept. `<path>.1` is the newest. 5 when absent. */
  maxFiles?: number;
  /**
   * A key of 16 bytes or more. Keep it where the log is not: then somebody who can write the log,
   * but does not have the key, can't forge lines. Without a key, the chain shows damage, but not a
   * log whose hashes somebody computed again.
   */
  key?: string | Uint8Array;
  /**
   * Whether a log that was begun without a key continues with `key`. The key then holds from the
   * next line on, and the head says so. Anyone who could write the log could have changed the
   * earlier lines, so set this once, when you make the key. When absent, such a log is refused.
   */
  adopt?: boolean;
  /**
   * Whether a second line is written when an access ends: `completes` is the `seq` of the access,
   * and `durationMs` is how long it took. No such lines when absent.
   */
  durations?: boolean;
  /**
   * Whether the lines of one turn of the event loop are written together, which takes a fraction of
   * the time where many calls run at once. `record` then returns before the line is in the file, and
   * a runtime waits for `flush` before it answers a call. If the process is killed before that, the
   * lines of calls without an answer are lost. When absent, each line is written before `record`
   * returns.
   */
  batch?: boolean;
}

const OPTIONS: OptionNames<JsonlAuditOptions> = {
  path: true,
  maxBytes: true,
  maxFiles: true,
  key: true,
  adopt: true,
  durations: true,
  batch: true,
};

/** The most lines that one write adds, and the most characters after which no more are awaited. */
const MAX_LINES = 1_000;
const MAX_CHARACTERS = 1024 * 1024;

/**
 * An audit sink that appends one line of JSON for each event. Without the option `batch`, the line
 * is written before `record` returns. A hash links each line to the one before, and `<path>.head`
 * says where the log begins and ends; `verifyAuditLog` checks both. Only one sink may have a log
 * open. Call `close` when you are done.
 */
export class JsonlAuditSink implements AuditSink {
  readonly #path: string;
  /** `undefined` once the sink is closed. */
  #log: ChainedLog | undefined;
  /**
   * The line numbers of accesses that have not ended; `undefined` without the option `durations`.
   */
  readonly #seqs: WeakMap<AuditEvent, number> | undefined;
  readonly #isBatch: boolean;
  /** The events that are not in the file yet, as JSON. At most one without the option `batch`. */
  #waiting: string[] = [];
  #waitingLength = 0;
  /** Whether events wait that could not be written when it was their turn. */
  #isLate = false;
  /** Ends with the turn of the event loop, when what waits is written. */
  #turn: Promise<void> | undefined;
  #forgetEnd = () => {};
  /**
   * Resolves when all events that were recorded so far are in the file. Only with the option
   * `batch`; the events are written then before the next turn of the event loop at the latest.
   *
   * @throws like `record`; the events are kept, and written later
   */
  readonly flush?: () => Promise<void>;

  /**
   * Opens a log for this sink alone, or begins one.
   *
   * @param options the file, the key, and the limits of the files
   * @throws `STORE_UNAVAILABLE` while another sink has the log open
   * @throws `CONFIG_INVALID` if the end of the log is not what a sink recorded last, if the log was
   * written with another key, if the key has less than 16 bytes, or if a limit is not a whole
   * number above zero
   * @throws errors of the operating system
   */
  constructor(options: JsonlAuditOptions) {
    assertOptions('JsonlAuditSink', options, OPTIONS);
    const { key, adopt = false, maxBytes = 10 * 1024 * 1024, maxFiles = 5 } = options;
    // Resolved now, since the process may change its folder later.
    const path = resolve(options.path);
    this.#path = path;
    assertNumbers(
      '',
      { maxBytes, maxFiles },
      {
        wanted: 'a whole number above zero',
        fits: (value) => Number.isSafeInteger(value) && value > 0,
      },
    );
    const hashOf = chainHash(key);
    this.#seqs = options.durations === true ? new WeakMap() : undefined;
    this.#isBatch = options.batch === true;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const ahead = this.#isBatch ? MAX_LINES : undefined;
    const limits = { maxBytes, maxFiles, ahead };
    this.#log = new ChainedLog(path, { hashOf, isKeyed: key !== undefined, adopt, ...limits });
    if (!this.#isBatch) return;
    this.flush = () => this.#flush();
    this.#forgetEnd = whenProcessEnds(() => this.#writeWaiting());
  }

  /**
   * Writes the line of an access, or lets it wait for those of the same turn with the option `batch`.
   * If this throws, the registry refuses the access.
   *
   * @param event the access
   * @throws `STORAGE_FAILED` if the sink is closed, or if another program removed, moved, cut or
   * wrote the file
   * @throws errors of the operating system if the line can't be written, or with the option `batch`
   * an earlier one
   */
  record(event: AuditEvent): void {
    const seq = this.#add(event);
    this.#seqs?.set(event, seq);
  }

  /**
   * Writes a line with the duration of an access, if the option `durations` is set. Does nothing
   * for an event that this sink did not record.
   *
   * @param event the access, the same object as for `record`
   * @param durationMs how long the access took
   * @throws like `record`
   */
  completed(event: AuditEvent, durationMs: number): void {
    const completes = this.#seqs?.get(event);
    if (completes === undefined) return;
    this.#seqs?.delete(event);
    const { sessionId, toolCallId } = event;
    const time = new Date(Date.parse(event.time) + durationMs).toISOString();
    this.#add({ time, sessionId, toolCallId, completes, durationMs });
  }

  /**
   * Writes the line of a call, as `record` does that of an access.
   *
   * @param event the call
   * @throws like `record`
   */
  call(event: AuditCall): void {
    this.#add(event);
  }

  /** Returns the number of the event's line. */
  #add(entry: object): number {
    // First of all, since what an entry runs to become JSON may record an entry too.
    const json = JSON.stringify(entry);
    const log = this.#openLog();
    const isFull = this.#waiting.length >= MAX_LINES || this.#waitingLength > MAX_CHARACTERS;
    // While those before it can't be written, this one is refused.
    if (isFull || this.#isLate) this.#writeWaiting();
    this.#waiting.push(json);
    this.#waitingLength += json.length;
    if (this.#isBatch) void this.#soon();
    else this.#writeNow();
    return log.seq + this.#waiting.length;
  }

  /** Writes the one event that waits. If this throws, it is forgotten: its access is refused. */
  #writeNow(): void {
    try {
      this.#writeWaiting();
    } finally {
      this.#waiting = [];
      this.#waitingLength = 0;
      this.#isLate = false;
    }
  }

  /** Lets the events that wait be written at the end of this turn of the event loop. */
  #soon(): Promise<void> {
    if (this.#turn !== undefined) return this.#turn;
    this.#turn = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#turn = undefined;
      this.#writeWaiting();
    });
    // Nobody may wait for it: then the next event is refused.
    this.#turn.catch(() => {});
    return this.#turn;
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.#soon();
  }

  /** Writes the events that wait. If this throws, those that were not written still wait. */
  #writeWaiting(): void {
    if (this.#waiting.length === 0) return;
    const log = this.#openLog();
    this.#isLate = true;
    while (this.#waiting.length > 0) this.#waiting = this.#waiting.slice(log.append(this.#waiting));
    this.#waitingLength = 0;
    this.#isLate = false;
  }

  #openLog(): ChainedLog {
    if (this.#log === undefined) throw failed(`${this.#path}: the audit sink is closed`);
    return this.#log;
  }

  /**
   * Flushes the log to the disk, and releases it for other sinks. Further calls of `record` throw
   * `STORAGE_FAILED`.
   *
   * @throws like `record`, with the option `batch`, if events that waited can't be written
   */
  close(): void {
    const log = this.#log;
    if (log === undefined) return;
    try {
      this.#writeWaiting();
    } finally {
      this.#log = undefined;
      this.#forgetEnd();
      log.close();
    }
  }
}

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate } from 'node:timers';
import { assertNumbers, assertOptions, type OptionNames } from '@ethosagent/policy';
import type { AuditCall, AuditEvent, AuditSink, EthosError } from '@ethosagent/types';
import { type ChainHash, chainedLine, chainHash, firstHash, hashAt, type Link } from './chain.js';
import { type Head, HeadFile, lastAllowed, readHead } from './head-file.js';
import { failed, refused, touched, unknownEnd } from './log-errors.js';
import { firstSeqOf, type LogEnd, readEnd, readLast, rotatedFiles } from './log-files.js';
import { lockLog } from './log-lock.js';
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
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #hashOf: ChainHash;
  readonly #unlock: () => void;
  #head: HeadFile | undefined;
  #descriptor: number | undefined;
  /** The identity of the open file. Another file may have its name now. */
  #file = { dev: 0, ino: 0 };
  #bytes = 0;
  #id = '';
  #newest: Link = { seq: 0, hash: '' };
  #oldest = 1;
  #keyedFrom: number | undefined;
  /**
   * The line numbers of accesses that have not ended; `undefined` without the option `durations`.
   */
  readonly #seqs: WeakMap<AuditEvent, number> | undefined;
  /** Whether bytes after `#bytes` belong to a line that was not recorded, and must be cut off. */
  #isTorn = false;
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
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
    this.#hashOf = chainHash(key);
    this.#seqs = options.durations === true ? new WeakMap() : undefined;
    this.#isBatch = options.batch === true;
    if (this.#isBatch) this.flush = () => this.#flush();
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#unlock = lockLog(path);
    try {
      this.#resume({ isKeyed: key !== undefined, adopt });
      if (this.#isBatch) this.#forgetEnd = whenProcessEnds(() => this.#writeWaiting());
    } catch (error) {
      this.close();
      throw error;
    }
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
    if (this.#descriptor === undefined) throw this.#closed();
    const isFull = this.#waiting.length >= MAX_LINES || this.#waitingLength > MAX_CHARACTERS;
    // While those before it can't be written, this one is refused.
    if (isFull || this.#isLate) this.#writeWaiting();
    this.#waiting.push(json);
    this.#waitingLength += json.length;
    if (this.#isBatch) void this.#soon();
    else this.#writeNow();
    return this.#newest.seq + this.#waiting.length;
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
    if (this.#descriptor === undefined) throw this.#closed();
    this.#isLate = true;
    this.#cutTornEnd(this.#descriptor);
    this.#assertUntouched();
    while (this.#waiting.length > 0) this.#writeUntilFull();
    this.#waitingLength = 0;
    this.#isLate = false;
  }

  #closed(): EthosError {
    return failed(`${this.#path}: the audit sink is closed`);
  }

  /** Writes the events that wait, up to the first that needs another file, which it begins. */
  #writeUntilFull(): void {
    let end: Link = this.#newest;
    let size = this.#bytes;
    const lines: Buffer[] = [];
    for (const json of this.#waiting) {
      const line = chainedLine(json, end, { isFirst: size === 0, hashOf: this.#hashOf });
      if (size > 0 && size + line.bytes.length > this.#maxBytes) break;
      lines.push(line.bytes);
      size += line.bytes.length;
      end = line;
    }
    const [first] = lines;
    if (first !== undefined) this.#append(lines.length === 1 ? first : Buffer.concat(lines), end);
    this.#waiting = this.#waiting.slice(lines.length);
    if (this.#waiting.length > 0 && this.#descriptor !== undefined) this.#rotate(this.#descriptor);
  }

  /**
   * Flushes the log to the disk, and releases it for other sinks. Further calls of `record` throw
   * `STORAGE_FAILED`.
   *
   * @throws like `record`, with the option `batch`, if events that waited can't be written
   */
  close(): void {
    try {
      if (this.#descriptor !== undefined) this.#writeWaiting();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    const descriptor = this.#descriptor;
    const head = this.#head;
    this.#descriptor = undefined;
    this.#head = undefined;
    this.#forgetEnd();
    try {
      if (descriptor !== undefined) fsyncSync(descriptor);
      head?.sync();
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
      head?.close();
      this.#unlock();
    }
  }

  /** Continues the chain after its last line. */
  #resume({ isKeyed, adopt }: { isKeyed: boolean; adopt: boolean }): void {
    const plain = chainHash(undefined);
    const own = readHead(this.#path, this.#hashOf, isKeyed);
    const isAdopted = own === 'plain' && adopt;
    const head = isAdopted ? readHead(this.#path, plain, false) : own;
    this.#open();
    const size = this.#bytes;
    const end = this.#readNewest();
    if (head === 'keyed') throw refused(this.#path, 'it was written with a key; give that key');
    if (head === 'plain') throw refused(this.#path, 'it was written without this key');
    if (head === 'wrong') throw unknownEnd(this.#path);
    if (end === undefined) {
      if (head !== 'missing' && head.seq > 0) throw unknownEnd(this.#path);
      this.#id = head === 'missing' ? randomBytes(16).toString('hex') : head.id;
      this.#newest = { seq: 0, hash: firstHash(this.#id, this.#hashOf) };
    } else {
      const { file, last, previous } = end;
      if (head === 'missing' || last === undefined || previous === undefined) {
        throw unknownEnd(this.#path);
      }
      const hashOf = (seq: number) =>
        isAdopted ? plain : hashAt(this.#hashOf, head.keyedFrom)(seq);
      const isHead = last.seq === head.seq && last.hash === head.hash;
      const isWhole = last.hash === hashOf(last.seq)(previous, last.text);
      if (!isWhole || !(isHead || followsHead(file, last, { head, hashOf }))) {
        throw unknownEnd(this.#path);
      }
      this.#keyedFrom = isAdopted ? last.seq + 1 : head.keyedFrom;
      this.#id = head.id;
      this.#newest = { seq: last.seq, hash: last.hash };
      this.#oldest = head.oldest;
    }
    // A line that a crash cut off was not confirmed to anybody, so it is removed.
    if (this.#bytes < size && this.#descriptor !== undefined) {
      ftruncateSync(this.#descriptor, this.#bytes);
    }
    this.#head = new HeadFile(this.#path, this.#hashOf, isKeyed);
    this.#writeHead(this.#newest);
  }

  /** Reads the last line of the log. If the log file is empty, it is in the newest rotated file. */
  #readNewest(): (LogEnd & { file: string }) | undefined {
    const files = [
      this.#path,
      ...rotatedFiles(this.#path)
        .map(({ path }) => path)
        .reverse(),
    ];
    for (const file of files) {
      const descriptor = openSync(file, 'r');
      try {
        const end = readEnd(descriptor);
        if (file === this.#path) this.#bytes = end.wholeBytes;
        if (!end.isEmpty) return { ...end, file };
      } finally {
        closeSync(descriptor);
      }
    }
    return undefined;
  }

  #append(bytes: Buffer, { seq, hash }: Link): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#isTorn = true;
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(descriptor, bytes, written);
      }
      this.#writeHead({ seq, hash });
    } catch (error) {
      try {
        this.#cutTornEnd(descriptor);
      } catch {
        // The next event tries this again.
      }
      throw error;
    }
    this.#isTorn = false;
    this.#bytes += bytes.length;
    this.#newest = { seq, hash };
  }

  #writeHead({ seq, hash }: Link): void {
    const keyedFrom = this.#keyedFrom === undefined ? {} : { keyedFrom: this.#keyedFrom };
    const ahead = this.#isBatch ? { ahead: MAX_LINES } : {};
    this.#head?.write({ id: this.#id, seq, hash, oldest: this.#oldest, ...keyedFrom, ...ahead });
  }

  #cutTornEnd(descriptor: number): void {
    if (!this.#isTorn) return;
    ftruncateSync(descriptor, this.#bytes);
    this.#isTorn = false;
  }

  // If the file was removed, moved, cut or written by another process, a further line would be lost
  // or break the chain.
  #assertUntouched(): void {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    const { dev, ino } = this.#file;
    if (now?.ino !== ino || now.dev !== dev || now.size !== this.#bytes) throw touched(this.#path);
  }

  #open(): void {
    const descriptor = openSync(this.#path, 'a+', 0o600);
    this.#descriptor = descriptor;
    const { dev, ino, size } = fstatSync(descriptor);
    this.#file = { dev, ino };
    this.#bytes = size;
  }

  // The old descriptor stays open during the renames. If one of them fails, the next event tries
  // again.
  #rotate(old: number): void {
    fsyncSync(old);
    const rotated = rotatedFiles(this.#path);
    const kept = rotated.filter(({ number }) => number < this.#maxFiles);
    const dropped = rotated.slice(0, rotated.length - kept.length);
    if (dropped.length > 0) {
      // Written before the files are removed: after a crash there may be more files than the head
      // says, which is no loss.
      this.#oldest = firstSeqOf(kept[0]?.path ?? this.#path) ?? this.#oldest;
      this.#writeHead(this.#newest);
      for (const { path } of dropped) unlinkSync(path);
    }
    for (const { path, number } of kept) renameSync(path, `${this.#path}.${number + 1}`);
    renameSync(this.#path, `${this.#path}.1`);
    try {
      this.#open();
    } catch (error) {
      renameSync(`${this.#path}.1`, this.#path);
      throw error;
    }
    closeSync(old);
  }
}

/**
 * Whether the lines after the head are those of one write: a process may have been killed after it
 * wrote them, and before it wrote the head.
 */
function followsHead(
  file: string,
  last: Link,
  { head, hashOf }: { head: Head; hashOf: (seq: number) => ChainHash },
): boolean {
  if (last.seq <= head.seq || last.seq > lastAllowed(head)) return false;
  let before: Link = head;
  for (const line of readLast(file, last.seq - head.seq)) {
    if (line?.seq !== before.seq + 1) return false;
    if (line.hash !== hashOf(line.seq)(before.hash, line.text)) return false;
    before = line;
  }
  return before.seq === last.seq;
}

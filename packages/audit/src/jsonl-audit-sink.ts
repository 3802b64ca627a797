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
import { assertNumbers, assertOptions, type OptionNames } from '@ethosagent/policy';
import { type AuditCall, type AuditEvent, type AuditSink, EthosError } from '@ethosagent/types';
import { type ChainHash, chainedLine, chainHash, firstHash, hashAt, type Link } from './chain.js';
import { HeadFile, headPath, readHead } from './head-file.js';
import { firstSeqOf, type LogEnd, readEnd, rotatedFiles } from './log-files.js';
import { lockLog } from './log-lock.js';

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
}

const OPTIONS: OptionNames<JsonlAuditOptions> = {
  path: true,
  maxBytes: true,
  maxFiles: true,
  key: true,
  adopt: true,
  durations: true,
};

/**
 * An audit sink that appends one line of JSON for each event. The line is written before `record`
 * returns. A hash links each line to the one before, and `<path>.head` says where the log begins
 * and ends; `verifyAuditLog` checks both. Only one sink may have a log open. Call `close` when you
 * are done.
 */
export class JsonlAuditSink implements AuditSink {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #hashOf: ChainHash;
  readonly #release: () => void;
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
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#release = lockLog(path);
    try {
      this.#resume({ isKeyed: key !== undefined, adopt });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Writes the line of an access. If this throws, the registry refuses the access.
   *
   * @param event the access
   * @throws `STORAGE_FAILED` if the sink is closed, or if another program removed, moved, cut or
   * wrote the file
   * @throws errors of the operating system if the line can't be written
   */
  record(event: AuditEvent): void {
    this.#write(event);
    this.#seqs?.set(event, this.#newest.seq);
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
    this.#write({ time, sessionId, toolCallId, completes, durationMs });
  }

  /**
   * Writes the line of a call.
   *
   * @param event the call
   * @throws like `record`
   */
  call(event: AuditCall): void {
    this.#write(event);
  }

  #write(entry: object): void {
    // First of all, since what an entry runs to become JSON may record an entry too.
    const json = JSON.stringify(entry);
    if (this.#descriptor === undefined) throw failed(`${this.#path}: the audit sink is closed`);
    this.#cutTornEnd(this.#descriptor);
    this.#assertUntouched();
    let line = chainedLine(json, this.#newest, {
      isFirst: this.#bytes === 0,
      hashOf: this.#hashOf,
    });
    if (this.#bytes > 0 && this.#bytes + line.bytes.length > this.#maxBytes) {
      this.#rotate(this.#descriptor);
      line = chainedLine(json, this.#newest, { isFirst: true, hashOf: this.#hashOf });
    }
    this.#append(line);
  }

  /**
   * Flushes the log to the disk, and releases it for other sinks. Further calls of `record` throw
   * `STORAGE_FAILED`.
   */
  close(): void {
    const descriptor = this.#descriptor;
    const head = this.#head;
    this.#descriptor = undefined;
    this.#head = undefined;
    try {
      if (descriptor !== undefined) fsyncSync(descriptor);
      head?.sync();
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
      head?.close();
      this.#release();
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
      const { last, previous } = end;
      if (head === 'missing' || last === undefined || previous === undefined) {
        throw unknownEnd(this.#path);
      }
      // A process may have been killed after it wrote a line and before it wrote the head.
      const isHead = last.seq === head.seq && last.hash === head.hash;
      const isNext = last.seq === head.seq + 1 && previous === head.hash;
      const hashOf = isAdopted ? plain : hashAt(this.#hashOf, head.keyedFrom)(last.seq);
      if (!(isHead || isNext) || last.hash !== hashOf(previous, last.text)) {
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
  #readNewest(): LogEnd | undefined {
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
        if (!end.isEmpty) return end;
      } finally {
        closeSync(descriptor);
      }
    }
    return undefined;
  }

  #append({ seq, hash, bytes }: Link & { bytes: Buffer }): void {
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
    this.#head?.write({ id: this.#id, seq, hash, oldest: this.#oldest, ...keyedFrom });
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

function unknownEnd(path: string): EthosError {
  return refused(
    path,
    `its end is not what was recorded last, or the key is another; check it with "ethosagent audit verify" (in a program: verifyAuditLog), then move it, its numbered files and ${headPath(path)} to another folder`,
  );
}

function refused(path: string, why: string): EthosError {
  return new EthosError('CONFIG_INVALID', `${path}: the audit log can not be continued: ${why}`);
}

function touched(path: string): EthosError {
  return failed(
    `${path}: another program changed, moved or removed the audit log; check it with "ethosagent audit verify" (in a program: verifyAuditLog), and open it again`,
  );
}

function failed(detail: string): EthosError {
  return new EthosError('STORAGE_FAILED', detail);
}

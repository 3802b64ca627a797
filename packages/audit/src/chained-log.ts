import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { type ChainHash, chainedLine, type Link } from './chain.js';
import { HeadFile } from './head-file.js';
import { touched } from './log-errors.js';
import { firstSeqOf, rotatedFiles } from './log-files.js';
import { lockLog } from './log-lock.js';
import { type LogPosition, type ResumeOptions, resumeLog } from './resume-log.js';

/** How a log is written. */
export interface ChainedLogOptions extends ResumeOptions {
  /** The size in bytes beyond which the file is rotated. */
  maxBytes: number;
  /** The number of rotated files that are kept. */
  maxFiles: number;
  /** The most lines that the log may be ahead of its head. */
  ahead: number | undefined;
}

interface OpenFile {
  descriptor: number;
  /** The identity of the file. Another file may have its name now. */
  dev: number;
  ino: number;
  size: number;
}

function openLog(path: string): OpenFile {
  const descriptor = openSync(path, 'a+', 0o600);
  const { dev, ino, size } = fstatSync(descriptor);
  return { descriptor, dev, ino, size };
}

/**
 * The files of a log that only this process writes: the log file, its rotated files, and the head.
 * A hash links each line to the one before.
 */
export class ChainedLog {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #hashOf: ChainHash;
  readonly #unlock: () => void;
  readonly #head: HeadFile;
  readonly #facts: Pick<LogPosition, 'id' | 'keyedFrom'> & { ahead: number | undefined };
  /** Its `size` counts whole lines. */
  #file: OpenFile;
  #newest: Link;
  #oldest: number;
  /** Whether bytes after the whole lines belong to a line that was not recorded. */
  #isTorn = false;

  /**
   * Opens a log for this process alone, and continues it after its last line, or begins one.
   *
   * @throws `STORE_UNAVAILABLE` while the log is open elsewhere
   * @throws `CONFIG_INVALID` if the log can't be continued
   * @throws errors of the operating system
   */
  constructor(path: string, options: ChainedLogOptions) {
    this.#path = path;
    this.#maxBytes = options.maxBytes;
    this.#maxFiles = options.maxFiles;
    this.#hashOf = options.hashOf;
    this.#unlock = lockLog(path);
    const undo = [this.#unlock];
    try {
      const file = openLog(path);
      undo.push(() => closeSync(file.descriptor));
      const { id, keyedFrom, newest, oldest, wholeBytes } = resumeLog(path, options);
      // A line that a crash cut off was not confirmed to anybody, so it is removed.
      if (wholeBytes < file.size) ftruncateSync(file.descriptor, wholeBytes);
      this.#file = { ...file, size: wholeBytes };
      this.#newest = newest;
      this.#oldest = oldest;
      this.#facts = { id, keyedFrom, ahead: options.ahead };
      const head = new HeadFile(path, options.hashOf, options.isKeyed);
      undo.push(() => head.close());
      this.#head = head;
      this.#writeHead(newest);
    } catch (error) {
      for (const each of undo.reverse()) each();
      throw error;
    }
  }

  /** The number of the last line. */
  get seq(): number {
    return this.#newest.seq;
  }

  /**
   * Writes the lines of events, up to the first that does not fit into the file. If that is the
   * very first, a new file is begun instead.
   *
   * @param events as JSON, in their order
   * @returns how many of them were written. If this throws, none were.
   * @throws `STORAGE_FAILED` if another program removed, moved, cut or wrote the file
   * @throws errors of the operating system
   */
  append(events: readonly string[]): number {
    this.#cutTornEnd();
    this.#assertUntouched();
    let end = this.#newest;
    let { size } = this.#file;
    const lines: Buffer[] = [];
    for (const json of events) {
      const line = chainedLine(json, end, { isFirst: size === 0, hashOf: this.#hashOf });
      if (size > 0 && size + line.bytes.length > this.#maxBytes) break;
      lines.push(line.bytes);
      size += line.bytes.length;
      end = line;
    }
    const [first] = lines;
    if (first === undefined) this.#rotate();
    else this.#write(lines.length === 1 ? first : Buffer.concat(lines), end);
    return lines.length;
  }

  /** Flushes the log to the disk, and releases it. */
  close(): void {
    try {
      fsyncSync(this.#file.descriptor);
      this.#head.sync();
    } finally {
      closeSync(this.#file.descriptor);
      this.#head.close();
      this.#unlock();
    }
  }

  #write(bytes: Buffer, { seq, hash }: Link): void {
    this.#isTorn = true;
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(this.#file.descriptor, bytes, written);
      }
      this.#writeHead({ seq, hash });
    } catch (error) {
      try {
        this.#cutTornEnd();
      } catch {
        // The next event tries this again.
      }
      throw error;
    }
    this.#isTorn = false;
    this.#file.size += bytes.length;
    this.#newest = { seq, hash };
  }

  #writeHead({ seq, hash }: Link): void {
    const { id, keyedFrom, ahead } = this.#facts;
    const optional = {
      ...(keyedFrom !== undefined && { keyedFrom }),
      ...(ahead !== undefined && { ahead }),
    };
    this.#head.write({ id, seq, hash, oldest: this.#oldest, ...optional });
  }

  #cutTornEnd(): void {
    if (!this.#isTorn) return;
    ftruncateSync(this.#file.descriptor, this.#file.size);
    this.#isTorn = false;
  }

  // If the file was removed, moved, cut or written by another process, a further line would be lost
  // or break the chain.
  #assertUntouched(): void {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    const { dev, ino, size } = this.#file;
    if (now?.ino !== ino || now.dev !== dev || now.size !== size) throw touched(this.#path);
  }

  // The old descriptor stays open during the renames. If one of them fails, the next event tries
  // again.
  #rotate(): void {
    const old = this.#file.descriptor;
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
      this.#file = openLog(this.#path);
    } catch (error) {
      renameSync(`${this.#path}.1`, this.#path);
      throw error;
    }
    closeSync(old);
  }
}

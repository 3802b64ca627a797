import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { AuditEvent, AuditSink } from '@ethosagent/types';

/** Where the lines go, and when a new file is begun. */
export interface JsonlAuditOptions {
  path: string;
  /** Bytes after which the file is rotated to `<path>.1`. 10 MB when absent. */
  maxBytes?: number;
  /** Rotated files that are kept: `<path>.1` is the youngest. 5 when absent. */
  maxFiles?: number;
}

/**
 * An audit sink that appends one line of JSON an event, written before `record` returns. For one
 * process a file. Close it when done.
 */
export class JsonlAuditSink implements AuditSink {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #descriptor: number | undefined;
  #bytes = 0;
  /** The last line has no end: a crash or a full disk cut it off. */
  #isTorn = false;

  constructor(options: JsonlAuditOptions) {
    this.#path = options.path;
    this.#maxBytes = options.maxBytes ?? 10 * 1024 * 1024;
    this.#maxFiles = Math.max(1, options.maxFiles ?? 5);
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    this.#open();
  }

  /** @throws when the line can not be written, so that the access is refused */
  record(event: AuditEvent): void {
    if (this.#descriptor === undefined) throw new Error('the audit sink is closed');
    // A torn line is ended where it stands, so that the next file begins with a whole one.
    if (this.#isTorn) this.#append(this.#descriptor, Buffer.from('\n'));
    const line = Buffer.from(`${JSON.stringify(event)}\n`);
    const isFull = this.#bytes > 0 && this.#bytes + line.length > this.#maxBytes;
    this.#append(isFull ? this.#rotate(this.#descriptor) : this.#descriptor, line);
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #append(descriptor: number, bytes: Buffer): void {
    this.#isTorn = true;
    let written = 0;
    while (written < bytes.length) {
      const count = writeSync(descriptor, bytes, written);
      written += count;
      this.#bytes += count;
    }
    this.#isTorn = false;
  }

  #open(): number {
    const descriptor = openSync(this.#path, 'a+', 0o600);
    this.#descriptor = descriptor;
    this.#bytes = fstatSync(descriptor).size;
    const last = Buffer.alloc(1);
    readSync(descriptor, last, 0, 1, Math.max(0, this.#bytes - 1));
    this.#isTorn = this.#bytes > 0 && last.toString() !== '\n';
    return descriptor;
  }

  // The old descriptor outlives the renames: where one fails, the next event tries again.
  #rotate(old: number): number {
    for (let index = this.#maxFiles - 1; index >= 1; index--) {
      renameIfThere(`${this.#path}.${index}`, `${this.#path}.${index + 1}`);
    }
    renameIfThere(this.#path, `${this.#path}.1`);
    const descriptor = this.#open();
    closeSync(old);
    return descriptor;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import type { ChainHash, Link } from './chain.js';

// Larger than any head, and small enough that a disk writes it at once.
const HEAD_BYTES = 256;
const ID = /^[0-9a-f]{32}$/;

/**
 * Facts about a log that are stored beside it. They show whether its end or its beginning is
 * missing.
 */
export interface Head extends Link {
  /** The id of this log, which no other log has: 32 hexadecimal digits. */
  id: string;
  /** The number of the oldest line that is kept. */
  oldest: number;
  /** The number of the first line that uses a key, in a log that began without one. */
  keyedFrom?: number;
  /**
   * The most lines that the log may have after the line of the head: a sink writes lines first, and
   * may be killed then. 1 when absent.
   */
  ahead?: number;
}

/** Returns the number of the last line that a log with this head may have. */
export function lastAllowed({ seq, ahead = 1 }: Head): number {
  return seq + ahead;
}

/**
 * Why no head can be used. `keyed`: it was written with a key, and none was given. `plain`: it was
 * written without the given key, or by somebody who does not have that key.
 */
export type NoHead = 'missing' | 'wrong' | 'keyed' | 'plain';

export function headPath(log: string): string {
  return `${log}.head`;
}

/** Reads the head of a log. */
export function readHead(log: string, hashOf: ChainHash, isKeyed: boolean): Head | NoHead {
  let text: string;
  try {
    text = readText(headPath(log));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'missing';
    throw error;
  }
  return headOf(text, hashOf, isKeyed);
}

/** Parses a head, and checks that it was written with the right key. */
export function headOf(text: string, hashOf: ChainHash, isKeyed: boolean): Head | NoHead {
  // The file was created, and its sink was ended before the first write.
  if (text === '') return 'missing';
  const head = parseHead(text);
  if (head === undefined) return 'wrong';
  const { mac, ...rest } = head;
  if (mac !== undefined && !isKeyed) return 'keyed';
  if (isKeyed && mac === undefined) return 'plain';
  return isKeyed && mac !== macOf(rest, hashOf) ? 'wrong' : rest;
}

/** Returns the id in the head of a log, whoever wrote it; `undefined` if it can't be read. */
export function namedId(log: string): string | undefined {
  try {
    return parseHead(readText(headPath(log)))?.id;
  } catch {
    return undefined;
  }
}

/** Reads one byte more than a head has, so that a longer file is noticed. */
function readText(path: string): string {
  // Non-blocking: somebody may have put a pipe there, and opening it would wait.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(HEAD_BYTES + 1);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** The open head file of a log that is being written. */
export class HeadFile {
  readonly #descriptor: number;
  readonly #hashOf: ChainHash;
  readonly #isKeyed: boolean;
  readonly #buffer = Buffer.alloc(HEAD_BYTES);

  constructor(log: string, hashOf: ChainHash, isKeyed: boolean) {
    this.#descriptor = openSync(headPath(log), constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#hashOf = hashOf;
    this.#isKeyed = isKeyed;
  }

  /**
   * Writes the head. Every write has the same length: it needs no further space on the disk, and is
   * done as a whole or not at all.
   */
  write(head: Head): void {
    const text = headText(head, this.#hashOf, this.#isKeyed);
    this.#buffer.write(text.padEnd(HEAD_BYTES), 'latin1');
    const written = writeSync(this.#descriptor, this.#buffer, 0, HEAD_BYTES, 0);
    if (written !== HEAD_BYTES) throw new Error('the head of the audit log was not written whole');
  }

  sync(): void {
    fsyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Returns the text of a head. */
export function headText(head: Head, hashOf: ChainHash, isKeyed: boolean): string {
  const { id, seq, oldest, hash, keyedFrom, ahead } = head;
  const from = keyedFrom === undefined ? '' : `,"from":${keyedFrom}`;
  const most = ahead === undefined ? '' : `,"ahead":${ahead}`;
  const mac = isKeyed ? `,"mac":"${macOf(head, hashOf)}"` : '';
  return `{"id":"${id}","seq":${seq},"oldest":${oldest},"hash":"${hash}"${from}${most}${mac}}`;
}

// Begins with the word `head`, so that no line has the same hash: lines are hashed after another
// hash.
function macOf({ id, seq, oldest, hash, keyedFrom, ahead }: Head, hashOf: ChainHash): string {
  const from = keyedFrom === undefined ? '' : ` ${keyedFrom}`;
  const most = ahead === undefined ? '' : ` ahead ${ahead}`;
  return hashOf('head', `${id} ${seq} ${oldest} ${hash}${from}${most}`);
}

function parseHead(text: string): (Head & { mac: string | undefined }) | undefined {
  if (text.length > HEAD_BYTES) return undefined;
  try {
    const head: Partial<Record<string, unknown>> = Object(JSON.parse(text));
    const { id, seq, oldest, hash, from, ahead, mac } = head;
    if (typeof id !== 'string' || !ID.test(id)) return undefined;
    if (!isCount(seq) || !isCount(oldest) || typeof hash !== 'string') return undefined;
    if (from !== undefined && !isCount(from)) return undefined;
    if (ahead !== undefined && !isCount(ahead)) return undefined;
    return {
      id,
      seq,
      oldest,
      hash,
      ...(from !== undefined && { keyedFrom: from }),
      ...(ahead !== undefined && { ahead }),
      mac: typeof mac === 'string' ? mac : undefined,
    };
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

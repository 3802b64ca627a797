import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import type { ChainHash, Link } from './chain.js';

// More than any head needs, and less than what a disk writes at once.
const HEAD_BYTES = 256;
const ID = /^[0-9a-f]{32}$/;

/** What is known of a log beside it, so that a missing end or beginning shows. */
export interface Head extends Link {
  /** Of the log, and of no other: 32 hexadecimal digits. */
  id: string;
  /** The oldest line that is kept. */
  oldest: number;
  /** The first line that a key holds for, in a log that was begun without one. */
  keyedFrom?: number;
}

/**
 * Why there is no head to go by. `keyed`: it was written with a key, and none was given. `plain`: it
 * was written without the key that was given, or by someone who has not got it.
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

/** The head that a text is. */
export function headOf(text: string, hashOf: ChainHash, isKeyed: boolean): Head | NoHead {
  // Made, and not written any more.
  if (text === '') return 'missing';
  const head = parseHead(text);
  if (head === undefined) return 'wrong';
  const { mac, ...rest } = head;
  if (mac !== undefined && !isKeyed) return 'keyed';
  if (isKeyed && mac === undefined) return 'plain';
  return isKeyed && mac !== macOf(rest, hashOf) ? 'wrong' : rest;
}

/** The id that the head of a log names, whoever wrote it there; `undefined` where none can be read. */
export function namedId(log: string): string | undefined {
  try {
    return parseHead(readText(headPath(log)))?.id;
  } catch {
    return undefined;
  }
}

/** One byte more than a head has, so that a longer one is not taken for it. */
function readText(path: string): string {
  // Not to wait for a pipe that someone put there.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(HEAD_BYTES + 1);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** The open head of a log that is being written. */
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

  /** In one write of the same length each time: it needs no space, and is never half done. */
  write(head: Head): void {
    this.#buffer.fill(' ');
    this.#buffer.write(headText(head, this.#hashOf, this.#isKeyed), 'latin1');
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

/** The text of a head. */
export function headText(head: Head, hashOf: ChainHash, isKeyed: boolean): string {
  const { id, seq, oldest, hash, keyedFrom } = head;
  const from = keyedFrom === undefined ? '' : `,"from":${keyedFrom}`;
  const mac = isKeyed ? `,"mac":"${macOf(head, hashOf)}"` : '';
  return `{"id":"${id}","seq":${seq},"oldest":${oldest},"hash":"${hash}"${from}${mac}}`;
}

// No line begins so: lines are hashed after a hash.
function macOf({ id, seq, oldest, hash, keyedFrom }: Head, hashOf: ChainHash): string {
  const from = keyedFrom === undefined ? '' : ` ${keyedFrom}`;
  return hashOf('head', `${id} ${seq} ${oldest} ${hash}${from}`);
}

function parseHead(text: string): (Head & { mac: string | undefined }) | undefined {
  if (text.length > HEAD_BYTES) return undefined;
  try {
    const head: Partial<Record<string, unknown>> = Object(JSON.parse(text));
    const { id, seq, oldest, hash, from, mac } = head;
    if (typeof id !== 'string' || !ID.test(id)) return undefined;
    if (!isCount(seq) || !isCount(oldest) || typeof hash !== 'string') return undefined;
    if (from !== undefined && !isCount(from)) return undefined;
    const keyedFrom = from === undefined ? {} : { keyedFrom: from };
    return { id, seq, oldest, hash, ...keyedFrom, mac: typeof mac === 'string' ? mac : undefined };
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

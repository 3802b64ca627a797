import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { type ChainHash, chainHash, firstHash, hashAt, type Link } from './chain.js';
import { type Head, lastAllowed, type NoHead, readHead } from './head-file.js';
import { refused, unknownEnd } from './log-errors.js';
import { type LogEnd, readEnd, readLast, rotatedFiles } from './log-files.js';

/** Where a log ends, and what its next line follows. */
export interface LogPosition {
  id: string;
  newest: Link;
  /** The number of the oldest line that is kept. */
  oldest: number;
  /** The number of the first line that uses the key, in a log that began without one. */
  keyedFrom: number | undefined;
  /** The bytes of the log file up to its last line break. An unfinished line may follow. */
  wholeBytes: number;
}

/** How to read a log that is to be continued. */
export interface ResumeOptions {
  hashOf: ChainHash;
  isKeyed: boolean;
  /** Whether a log that was begun without a key continues with it. */
  adopt: boolean;
}

/**
 * Returns where a log continues, or where a new one begins.
 *
 * @param path the log file, which exists
 * @throws `CONFIG_INVALID` if the end of the log is not what was recorded last, or if it was
 * written with another key
 * @throws errors of the operating system
 */
export function resumeLog(path: string, { hashOf, isKeyed, adopt }: ResumeOptions): LogPosition {
  const plain = chainHash(undefined);
  const own = readHead(path, hashOf, isKeyed);
  const isAdopted = own === 'plain' && adopt;
  const head = isAdopted ? readHead(path, plain, false) : own;
  if (head === 'keyed') throw refused(path, 'it was written with a key; give that key');
  if (head === 'plain') throw refused(path, 'it was written without this key');
  if (head === 'wrong') throw unknownEnd(path);
  const { wholeBytes, end } = readNewest(path);
  if (end === undefined) return { ...newLog(path, head, hashOf), wholeBytes };
  const { file, last, previous } = end;
  if (head === 'missing' || last === undefined || previous === undefined) throw unknownEnd(path);
  const lineHash = (seq: number) => (isAdopted ? plain : hashAt(hashOf, head.keyedFrom)(seq));
  const isHead = last.seq === head.seq && last.hash === head.hash;
  const isWhole = last.hash === lineHash(last.seq)(previous, last.text);
  if (!isWhole || !(isHead || followsHead(file, last, { head, lineHash }))) throw unknownEnd(path);
  return {
    id: head.id,
    newest: { seq: last.seq, hash: last.hash },
    oldest: head.oldest,
    keyedFrom: isAdopted ? last.seq + 1 : head.keyedFrom,
    wholeBytes,
  };
}

/** A log without lines. It may have a head: its sink was ended before the first line. */
function newLog(
  path: string,
  head: Head | Extract<NoHead, 'missing'>,
  hashOf: ChainHash,
): Omit<LogPosition, 'wholeBytes'> {
  if (head !== 'missing' && head.seq > 0) throw unknownEnd(path);
  const id = head === 'missing' ? randomBytes(16).toString('hex') : head.id;
  return { id, newest: { seq: 0, hash: firstHash(id, hashOf) }, oldest: 1, keyedFrom: undefined };
}

/** Reads the last line of a log. If the log file is empty, it is in the newest rotated file. */
function readNewest(path: string): {
  wholeBytes: number;
  end: (LogEnd & { file: string }) | undefined;
} {
  const own = readEndOf(path);
  const { wholeBytes } = own;
  if (!own.isEmpty) return { wholeBytes, end: { ...own, file: path } };
  for (const { path: file } of rotatedFiles(path).reverse()) {
    const end = readEndOf(file);
    if (!end.isEmpty) return { wholeBytes, end: { ...end, file } };
  }
  return { wholeBytes, end: undefined };
}

function readEndOf(file: string): LogEnd {
  const descriptor = openSync(file, 'r');
  try {
    return readEnd(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Whether the lines after the head are those of one write: a process may have been killed after it
 * wrote them, and before it wrote the head.
 */
function followsHead(
  file: string,
  last: Link,
  { head, lineHash }: { head: Head; lineHash: (seq: number) => ChainHash },
): boolean {
  if (last.seq <= head.seq || last.seq > lastAllowed(head)) return false;
  let before: Link = head;
  for (const line of readLast(file, last.seq - head.seq)) {
    if (line?.seq !== before.seq + 1) return false;
    if (line.hash !== lineHash(line.seq)(before.hash, line.text)) return false;
    before = line;
  }
  return before.seq === last.seq;
}

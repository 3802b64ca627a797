import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ChainedLine, parseLine } from './chain.js';

const CHUNK_BYTES = 64 * 1024;
/**
 * The bytes to read for a first line: more than most lines have. Readers of a log read it often.
 */
const FIRST_BYTES = 4 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Returns the paths of the logs in a folder, including logs of which only a head or a rotated file
 * is left.
 */
export async function logsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).map((name) =>
    /^(.+\.jsonl)(?:\.head|\.\d{1,4})?$/.exec(name),
  );
  const logs = new Set(names.flatMap((match) => match?.[1] ?? []));
  return [...logs].sort().map((name) => join(folder, name));
}

/** A rotated file of a log. */
export interface RotatedFile {
  path: string;
  /** 1 for the newest. */
  number: number;
}

/**
 * Returns the files `<log>.<number>`, the oldest first. A number of more than four digits is a
 * date: its file belongs to another program.
 */
export function rotatedFiles(log: string): RotatedFile[] {
  const prefix = `${basename(log)}.`;
  return readdirSync(dirname(log))
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,3}$/.test(name.slice(prefix.length)))
    .map((name) => ({
      path: join(dirname(log), name),
      number: Number(name.slice(prefix.length)),
    }))
    .sort((a, b) => b.number - a.number);
}

/** The end of a file of a log. */
export interface LogEnd {
  /** The number of bytes up to the last line break. An unfinished line may follow. */
  wholeBytes: number;
  isEmpty: boolean;
  /** The last line; `undefined` if no sink wrote it. */
  last: ChainedLine | undefined;
  /** The hash that the last line follows, if it is known. */
  previous: string | undefined;
}

/** Reads the last two lines of a file, whatever its size. */
export function readEnd(descriptor: number): LogEnd {
  // The last two lines are complete if the break before them was read.
  const { bytes, start, breaks } = readTail(descriptor, 3);
  const [end, between, before] = breaks;
  if (end === undefined) {
    return { wholeBytes: 0, isEmpty: true, last: undefined, previous: undefined };
  }
  const last = parseLine(bytes.subarray((between ?? -1) + 1, end));
  const earlier =
    between === undefined ? undefined : parseLine(bytes.subarray((before ?? -1) + 1, between));
  return {
    wholeBytes: start + end + 1,
    isEmpty: false,
    last,
    previous: between === undefined ? last?.prev : earlier?.hash,
  };
}

/**
 * Returns the last lines of a file, the oldest first: at most `count`, and less if there are less.
 * `undefined` stands for a line that no sink wrote.
 */
export function readLast(path: string, count: number): (ChainedLine | undefined)[] {
  const descriptor = openSync(path, 'r');
  try {
    const { bytes, breaks } = readTail(descriptor, count + 1);
    const starts = breaks.length > count ? breaks : [...breaks, -1];
    return starts
      .slice(1)
      .map((start, index) => parseLine(bytes.subarray(start + 1, starts[index])))
      .reverse();
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the number of the first line of a file; `undefined` if it has none. */
export function firstSeqOf(path: string): number | undefined {
  const descriptor = openSync(path, 'r');
  try {
    return readFirst(descriptor)?.seq;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the first line of a file; `undefined` if there is none, or if no sink wrote it. */
export function readFirst(descriptor: number): ChainedLine | undefined {
  const { size } = fstatSync(descriptor);
  for (let length = Math.min(FIRST_BYTES, size); ; length = Math.min(length * 2, size)) {
    const start = Buffer.alloc(length);
    readSync(descriptor, start, 0, length, 0);
    const end = start.indexOf(LINE_BREAK);
    if (end >= 0) return parseLine(start.subarray(0, end));
    if (length === size) return undefined;
  }
}

/**
 * Reads the end of a file, with as many line breaks as are wanted or the whole file has.
 *
 * @returns the bytes, where they start in the file, and where the line breaks are in the bytes, the
 * last one first
 */
function readTail(
  descriptor: number,
  wanted: number,
): { bytes: Buffer; start: number; breaks: number[] } {
  const { size } = fstatSync(descriptor);
  for (let length = Math.min(CHUNK_BYTES, size); ; length = Math.min(length * 2, size)) {
    const start = size - length;
    const tail = Buffer.alloc(length);
    const bytes = tail.subarray(0, readSync(descriptor, tail, 0, length, start));
    const breaks = lastBreaks(bytes, wanted);
    if (breaks.length === wanted || start === 0) return { bytes, start, breaks };
  }
}

/** The positions of the last line breaks, at most `count`, the last one first. */
function lastBreaks(bytes: Buffer, count: number): number[] {
  const found: number[] = [];
  for (let at = bytes.length; found.length < count && at > 0; ) {
    at = bytes.lastIndexOf(LINE_BREAK, at - 1);
    if (at < 0) break;
    found.push(at);
  }
  return found;
}

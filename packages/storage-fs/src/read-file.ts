import { isAscii } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from 'node:fs';
import { devNull } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import { promisify } from 'node:util';
import { EthosError } from '@ethosagent/types';
import type { HeldFile } from './access.js';
import { isMissing } from './errno.js';
import { judgeUnopened, type Request, type World } from './locate.js';

/** Up to this size, a synchronous read takes less time than the way through the thread pool. */
const SMALL_BYTES = 128 * 1024;
const CHUNK_BYTES = 8 * 1024 * 1024;
/** How much of a large text is decoded at once. */
const PIECE_BYTES = 1024 * 1024;
const MAX_TURNS = 40;
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

const readAsync = promisify(read);
// It is safe to share: no other code runs between filling it and copying from it.
let scratch: Buffer | undefined;
/**
 * The buffer of the last read of a large text, unless it is in use or the memory was needed: memory that
 * is new takes longer than the read.
 */
let spare: WeakRef<Buffer> | undefined;

/** The limit for a read. */
interface Cap {
  readonly asked: string;
  readonly maxBytes: number;
}

/** How the content of an opened file is given. */
interface Form<T> {
  /** @param buffer is used again by the next read */
  ofSmall(buffer: Buffer): T;
  readLarge(fd: number, stat: Stats, cap: Cap): Promise<T>;
}

const TEXT: Form<string> = {
  ofSmall: (buffer) => buffer.toString('utf8'),
  readLarge: readLargeText,
};

const BYTES: Form<Uint8Array> = {
  ofSmall: (buffer) => new Uint8Array(buffer),
  readLarge: readLargeBytes,
};

/** Reads a file as UTF-8 text; `null` if it does not exist. */
export function readText(world: World, request: Request, maxBytes: number): Promise<string | null> {
  return readAs(world, { request, maxBytes }, TEXT);
}

/** Reads the bytes of a file; `null` if it does not exist. */
export function readBytes(
  world: World,
  request: Request,
  maxBytes: number,
): Promise<Uint8Array | null> {
  return readAs(world, { request, maxBytes }, BYTES);
}

async function readAs<T>(
  world: World,
  { request, maxBytes }: { request: Request; maxBytes: number },
  form: Form<T>,
): Promise<T | null> {
  const opened = openFile(world, request, maxBytes);
  if (opened === null) return null;
  const { fd, stat } = opened;
  try {
    const small = stat.size <= SMALL_BYTES ? readSmall(fd, stat) : undefined;
    if (small !== undefined) return form.ofSmall(small);
    return await form.readLarge(fd, stat, { asked: request.asked, maxBytes });
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens the file first and checks what was opened, so that nothing can be replaced between the two.
 * What a link leads to is also checked before it is opened, since opening a pipe wakes its writer.
 * A pipe below a linked folder is not: to know that, each read would need two more system calls.
 */
function openFile(
  world: World,
  request: Request,
  maxBytes: number,
): { fd: number; stat: Stats } | null {
  const { kind, asked, path } = request;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const check = (fd: number): Stats | undefined => {
      const stat = fstatSync(fd);
      const realPath = world.access.realPathOf(fd, path, stat);
      if (realPath === undefined) return undefined;
      world.guard.judge(request, realPath, stat);
      assertReadable(stat, realPath, { asked, maxBytes });
      return stat;
    };
    const fd = openUnlinked(world, request) ?? openLinked(world, request, check);
    if (fd === undefined) return null;
    let isKept = false;
    try {
      const stat = check(fd);
      if (stat === undefined) continue;
      isKept = true;
      return { fd, stat };
    } finally {
      if (!isKept) closeSync(fd);
    }
  }
  return world.guard.refuseLoop(kind, asked);
}

/** Opens a file that is no link; `undefined` if it is one, or if there is nothing. */
function openUnlinked(world: World, { path }: Request): number | undefined {
  if (world.access.hold === undefined) return undefined;
  try {
    return openSync(path, FLAGS | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}

/** Opens what a link leads to, after a check; `undefined` if there is nothing. */
function openLinked(
  world: World,
  request: Request,
  check: (fd: number) => void,
): number | undefined {
  let held: HeldFile | undefined;
  try {
    held = world.access.hold?.(request.path);
    if (held === undefined) return openSync(request.path, FLAGS);
  } catch (error) {
    judgeUnopened(world, request);
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    check(held.fd);
    return openSync(held.path, FLAGS);
  } finally {
    closeSync(held.fd);
  }
}

function assertReadable(stat: Stats, realPath: string, { asked, maxBytes }: Cap): void {
  if (!stat.isFile() && realPath !== devNull) {
    const what = stat.isDirectory() ? 'it is a folder; list it instead' : 'it is not a plain file';
    throw new EthosError('NOT_A_FILE', `read ${asked}: ${what}`);
  }
  if (stat.size > maxBytes) throw tooLarge({ asked, maxBytes });
}

function tooLarge({ asked, maxBytes }: Cap): EthosError {
  return new EthosError(
    'FILE_TOO_LARGE',
    `read ${asked}: larger than the cap of ${maxBytes} bytes`,
  );
}

/**
 * Reads a small file.
 * @returns `undefined` if a file of the kernel, whose size is not known before, is not small
 */
function readSmall(fd: number, stat: Stats): Buffer | undefined {
  scratch ??= Buffer.allocUnsafeSlow(SMALL_BYTES);
  const wanted = stat.size > 0 ? stat.size : SMALL_BYTES;
  let filled = 0;
  while (filled < wanted) {
    const got = readSync(fd, scratch, filled, wanted - filled, filled);
    if (got === 0) return scratch.subarray(0, filled);
    filled += got;
  }
  return stat.size > 0 ? scratch.subarray(0, filled) : undefined;
}

/**
 * Reads a large text. As long as it is ASCII, its bytes are collected, and become one string without
 * decoding. What follows the first other character is decoded in pieces, so that its bytes are never
 * all in memory.
 */
async function readLargeText(fd: number, { size }: Stats, cap: Cap): Promise<string> {
  const buffer = largeBuffer(Math.max(size, PIECE_BYTES));
  const decoder = new StringDecoder('utf8');
  /** What was decoded; `undefined` as long as all of `size` may be ASCII. */
  let text = size > 0 ? undefined : '';
  let asciiBytes = 0;
  for (let filled = 0; ; ) {
    const length = size > 0 ? Math.min(PIECE_BYTES, size - filled) : PIECE_BYTES;
    const { bytesRead } =
      length > 0 ? await readAsync(fd, buffer, asciiBytes, length, filled) : { bytesRead: 0 };
    if (bytesRead === 0) break;
    filled += bytesRead;
    if (filled > cap.maxBytes) throw tooLarge(cap);
    const piece = buffer.subarray(asciiBytes, asciiBytes + bytesRead);
    if (text === undefined && isAscii(piece)) {
      asciiBytes += bytesRead;
    } else {
      text ??= buffer.toString('latin1', 0, asciiBytes);
      text += decoder.write(piece);
    }
  }
  text = text === undefined ? buffer.toString('latin1', 0, asciiBytes) : text + decoder.end();
  spare = new WeakRef(buffer);
  return text;
}

/** A buffer for one read: that of an earlier one, or a new one. What is not written to takes no memory. */
function largeBuffer(bytes: number): Buffer {
  const earlier = spare?.deref();
  spare = undefined;
  return earlier !== undefined && earlier.length >= bytes ? earlier : Buffer.allocUnsafeSlow(bytes);
}

async function readLargeBytes(fd: number, { size }: Stats, cap: Cap): Promise<Uint8Array> {
  let buffer = Buffer.allocUnsafeSlow(size > 0 ? size : 2 * SMALL_BYTES);
  let filled = 0;
  for (;;) {
    if (filled === buffer.length) {
      if (size > 0) return plain(buffer);
      if (filled > cap.maxBytes) throw tooLarge(cap);
      buffer = Buffer.concat([buffer], buffer.length * 2);
    }
    const length = Math.min(CHUNK_BYTES, buffer.length - filled);
    const { bytesRead } = await readAsync(fd, buffer, filled, length, filled);
    if (bytesRead === 0) return plain(buffer.subarray(0, filled));
    filled += bytesRead;
  }
}

/** The same bytes as what the interface promises: a `Buffer` has other methods under known names. */
function plain({ buffer, byteOffset, length }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

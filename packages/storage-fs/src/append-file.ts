import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  unlinkSync,
  write,
} from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDenySet, ReachGuard, Turns } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { errnoOf, isMissing } from './errno.js';
import { limitWrites } from './limit-writes.js';
import { locateForWrite, type Place, type Request, type World } from './locate.js';
import { readBytes } from './read-file.js';
import { writeFile } from './write-file.js';

const MAX_TURNS = 40;
// A pipe or a terminal that takes the file's place is not waited for, nor taken over.
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0);
const MAKE = constants.O_CREAT | constants.O_EXCL;

const writeAsync = promisify(write);

/** How bytes are added to a file. */
interface AppendOptions {
  readonly content: string | Uint8Array;
  /** Permission bits of a file that is made; the process's default when absent. */
  readonly mode: number | undefined;
  /** Called once the place is judged, before anything is changed. */
  readonly announce: () => void;
  /** Bytes of the largest file with several names that is appended to. */
  readonly maxReadBytes: number;
}

/**
 * Adds to the end of a file, wherever that is by then, so that appends at once keep each other's
 * bytes. Follows a link that stays within reach. The disk is not waited for.
 *
 * Of a file with several names the one is replaced, as by a write: the others may be out of reach.
 */
export async function appendFile(
  world: World,
  request: Request,
  { content, ...rest }: AppendOptions,
): Promise<void> {
  // A copy: the caller may go on to change its array.
  const bytes = Buffer.from(typeof content === 'string' ? content : Uint8Array.from(content));
  const addition = { ...rest, bytes };
  const shared = await addToEnd(world, request, addition);
  if (shared === undefined) return;
  await replacements.run(shared, async () => {
    // The one before it may have replaced the name already.
    const path = await addToEnd(world, { ...request, path: shared }, addition);
    if (path !== undefined) await replaceName(world, { ...request, path }, addition);
  });
}

/** What is added, and how. */
interface Addition extends Omit<AppendOptions, 'content'> {
  readonly bytes: Uint8Array;
}

/** @returns the real path of a file with several names, to which nothing was added */
function addToEnd(
  world: World,
  request: Request,
  { bytes, mode, announce }: Addition,
): Promise<string | undefined> {
  return limitWrites(async () => {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const place = await locateForWrite(world, request, { follow: true, beforeMaking: announce });
      let fd: number | undefined;
      try {
        const isSwallowed = place.realPath === devNull;
        if (!isSwallowed && place.stat?.isFile() === false) throw notAFile(request.asked);
        // The folder was held while others above it were made, and may have been moved meanwhile.
        world.guard.judge(
          { kind: 'write', asked: request.asked },
          join(place.folder.realPath(), place.name),
        );
        announce();
        if (isSwallowed) return;
        fd = openEnd(world, place, { asked: request.asked, mode });
        if (fd === undefined) continue;
        const names = countNames(fd, place);
        if (names === 0) continue;
        if (names > 1) return place.realPath;
        await writeAll(fd, bytes);
        return;
      } finally {
        if (fd !== undefined) closeSync(fd);
        place.folder.close();
      }
    }
    // Someone swaps the file faster than it can be opened.
    world.guard.refuseLoop('write', request.asked);
  });
}

/**
 * How many names an opened file has, of which the place is one; 0 when it is there no more. Taken by
 * the name: a count of the descriptor's may be that of a name elsewhere, when ours has just gone.
 */
function countNames(fd: number, { folder, name }: Place): number {
  const opened = fstatSync(fd);
  const there = lstatSync(folder.child(name), { throwIfNoEntry: false });
  return there?.dev === opened.dev && there.ino === opened.ino ? there.nlink : 0;
}

/** @param request whose path is a real one */
async function replaceName(
  world: World,
  request: Request,
  { bytes, mode, announce, maxReadBytes }: Addition,
): Promise<void> {
  // What is read goes back to that very place: elsewhere more might be allowed to read it.
  const here = { read: [], write: [request.path] };
  const guard = new ReachGuard({
    reach: here,
    deny: createDenySet([]),
    outer: world.guard,
    realPathOf: (path) => path,
  });
  const held = { access: world.access, guard };
  const before = await readBytes(held, request, maxReadBytes);
  await writeFile(held, request, {
    content: Buffer.concat([before ?? new Uint8Array(), bytes]),
    mode: before === null ? mode : undefined,
    announce,
  });
}

/** One after the other for each path: what is read must still be there when it is written back. */
const replacements = new Turns();

/**
 * Opens or makes the file, and judges what was opened before a byte goes into it.
 * @returns `undefined` when something else has come to the place since it was looked at
 */
function openEnd(
  world: World,
  { folder, name, stat: known }: Place,
  { asked, mode }: { asked: string; mode: number | undefined },
): number | undefined {
  const path = folder.child(name);
  const isNew = known === undefined;
  let fd: number;
  try {
    fd = openSync(path, FLAGS | (isNew ? MAKE : 0), mode ?? 0o666);
  } catch (error) {
    const errno = errnoOf(error);
    const isSwapped = errno === 'ELOOP' || (isNew ? errno === 'EEXIST' : isMissing(error));
    if (isSwapped) return undefined;
    throw error;
  }
  let isKept = false;
  try {
    const stat = fstatSync(fd);
    const realPath = world.access.realPathOf(fd, path, stat);
    if (realPath === undefined) return undefined;
    try {
      world.guard.judge({ kind: 'write', asked }, realPath, stat);
    } catch (error) {
      // It was made in a folder that has just left the reach, and is to leave no trace there.
      if (isNew) unlinkSync(path);
      throw error;
    }
    if (!stat.isFile()) throw notAFile(asked);
    // Exactly the mode that was asked for, whatever the umask.
    if (isNew && mode !== undefined) fchmodSync(fd, mode);
    isKept = true;
    return fd;
  } finally {
    if (!isKept) closeSync(fd);
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await writeAsync(fd, bytes, done, bytes.length - done, null);
    done += bytesWritten;
  }
}

function notAFile(asked: string): EthosError {
  return new EthosError('NOT_A_FILE', `append ${asked}: there is a folder or a device already`);
}

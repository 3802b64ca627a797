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
// Another process may replace the file by a pipe or a terminal. Opening it must not wait for the
// pipe, nor make the terminal this process's own.
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0);
const MAKE = constants.O_CREAT | constants.O_EXCL;

const writeAsync = promisify(write);

interface AppendOptions {
  readonly content: string | Uint8Array;
  /** The permission bits of a new file; the process's default if absent. */
  readonly mode: number | undefined;
  /** Called once the place has been checked, before anything is changed. */
  readonly announce: () => void;
  /** The size in bytes of the largest file with several names that may be appended to. */
  readonly maxReadBytes: number;
}

/**
 * Adds to the end of a file as it is at that moment, so that appends at the same time keep each
 * other's bytes. Follows a link that stays within the reach. Does not wait for the disk.
 *
 * If a file has several names, the named one is replaced by a new file, as a write does: the other
 * names may lie outside the reach.
 */
export async function appendFile(
  world: World,
  request: Request,
  { content, ...rest }: AppendOptions,
): Promise<void> {
  // A copy: the caller may change its array.
  const bytes = Buffer.from(typeof content === 'string' ? content : Uint8Array.from(content));
  const addition = { ...rest, bytes };
  const shared = await addToEnd(world, request, addition);
  if (shared === undefined) return;
  await replacements.run(shared, async () => {
    // The append before this one may already have replaced the name.
    const path = await addToEnd(world, { ...request, path: shared }, addition);
    if (path !== undefined) await replaceName(world, { ...request, path }, addition);
  });
}

interface Addition extends Omit<AppendOptions, 'content'> {
  readonly bytes: Uint8Array;
}

/**
 * Adds to the end of a file with a single name.
 * @returns the real path of a file with several names, to which nothing was added
 */
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
        // While other folders above it were created, the held folder may have been moved.
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
    // Another process replaces the file faster than it can be opened.
    world.guard.refuseLoop('write', request.asked);
  });
}

/**
 * Returns how many names an opened file has, one of which is the place; 0 if the place is no longer
 * the file. The count is read through the name. A count of the descriptor may belong to another
 * name, if this one was just removed.
 */
function countNames(fd: number, { folder, name }: Place): number {
  const opened = fstatSync(fd);
  const there = lstatSync(folder.child(name), { throwIfNoEntry: false });
  return there?.dev === opened.dev && there.ino === opened.ino ? there.nlink : 0;
}

/**
 * Replaces one name of a file with several names by a new file with the added bytes.
 * @param request its path must be a real path
 */
async function replaceName(
  world: World,
  request: Request,
  { bytes, mode, announce, maxReadBytes }: Addition,
): Promise<void> {
  // The text that is read may be written back only to this very place. Elsewhere, others might be
  // allowed to read it.
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

/** Runs replacements of a path one by one: no change may come between the read and the write. */
const replacements = new Turns();

/**
 * Opens or creates the file, and checks what was opened before anything is written.
 * @returns `undefined` if the place has changed since it was looked at
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
      // The file was created in a folder that has just left the reach, so it is removed.
      if (isNew) unlinkSync(path);
      throw error;
    }
    if (!stat.isFile()) throw notAFile(asked);
    // The mode that was asked for, without the umask.
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

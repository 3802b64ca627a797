import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  write,
} from 'node:fs';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import { EthosError } from '@ethosagent/types';
import type { Folder } from './access.js';
import { isMissing } from './errno.js';
import { limitWrites } from './limit-writes.js';
import { locateForWrite, type Place, type Request, syncFolder, type World } from './locate.js';
import { abandon, sweepLeftovers, temporaryName } from './temp-files.js';

const writeAsync = promisify(write);
const fsyncAsync = promisify(fsync);

/**
 * Replaces a file by a temporary one beside it. So a reader always finds the old content or the new
 * one, even after a crash. Follows a link that stays within the reach.
 * @param options.mode permission bits; if absent, those of the old file, or the process's default
 * @param options.announce called once the place has been checked, before anything is changed
 */
export async function writeFile(
  world: World,
  request: Request,
  {
    content,
    mode,
    announce,
  }: { content: string | Uint8Array; mode: number | undefined; announce: () => void },
): Promise<void> {
  // A copy: the caller may change its array.
  const bytes = Buffer.from(typeof content === 'string' ? content : Uint8Array.from(content));
  await limitWrites(async () => {
    const place = await locateForWrite(world, request, {
      follow: true,
      beforeMaking: announce,
    });
    try {
      const isSwallowed = place.realPath === devNull;
      if (!isSwallowed) assertReplaceable(place, request.asked);
      announce();
      if (isSwallowed) return;
      await sweepLeftovers(place.folder);
      await replace(world, request, { place, bytes, mode });
      await syncFolder(place.folder);
    } finally {
      place.folder.close();
    }
  });
}

async function replace(
  world: World,
  request: Request,
  { place, bytes, mode }: { place: Place; bytes: Uint8Array; mode: number | undefined },
): Promise<void> {
  const { folder, name, stat } = place;
  const temporary = temporaryName();
  const path = folder.child(temporary);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const finalMode = mode ?? (stat === undefined ? undefined : stat.mode & 0o777);
  // Nobody else may read the file before it has its final mode.
  const fd = openSync(
    path,
    flags | (constants.O_NOFOLLOW ?? 0),
    finalMode === undefined ? 0o666 : 0o600,
  );
  try {
    try {
      await writeAll(fd, bytes);
      if (stat !== undefined) keepOwner(fd, stat);
      if (finalMode !== undefined) fchmodSync(fd, finalMode);
      await fsyncAsync(fd);
    } finally {
      closeSync(fd);
    }
    // The held folder may have been moved out of the reach meanwhile.
    world.guard.judge(request, `${folder.realPath()}/${name}`);
    renameSync(path, folder.child(name));
  } catch (error) {
    discard(folder, temporary);
    throw error;
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await writeAsync(fd, bytes, done, bytes.length - done, done);
    done += bytesWritten;
  }
}

function assertReplaceable({ stat, folder, name }: Place, asked: string): void {
  if (stat === undefined) return;
  if (!stat.isFile()) {
    throw new EthosError('NOT_A_FILE', `write ${asked}: there is a folder or a device already`);
  }
  // A rename needs no permission for the file itself. But somebody who made it read-only did not
  // want it to change.
  accessSync(folder.child(name), constants.W_OK);
}

/** Gives the file its old owner, so that a user's file stays theirs when root replaces it. */
function keepOwner(fd: number, old: Stats): void {
  const made = fstatSync(fd);
  if (made.uid === old.uid && made.gid === old.gid) return;
  try {
    fchownSync(fd, old.uid, old.gid);
  } catch {
    // Only root may do this. For other users the file becomes their own, as with every editor that
    // replaces files.
  }
}

function discard(folder: Folder, temporary: string): void {
  try {
    unlinkSync(folder.child(temporary));
  } catch (error) {
    // The file is gone with its folder, or the folder may no longer be written.
    if (!isMissing(error)) abandon(temporary);
  }
}

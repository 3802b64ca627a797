import {
  chmodSync,
  closeSync,
  constants,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { StorageGuard } from '@ethosagent/policy';
import { EthosError, type ReachKind } from '@ethosagent/types';
import type { Access, Folder } from './access.js';
import { errnoOf, isMissing } from './errno.js';
import { followLinks } from './follow-links.js';

const MAX_TURNS = 40;
/** Each new folder is synced, while other writes wait. */
const MAX_MISSING = 64;
const fsyncAsync = promisify(fsync);

/** The access to the disk, and the guard that checks it. */
export interface World {
  readonly access: Access;
  readonly guard: StorageGuard;
}

/** One request: the kind of access, the path, and the path as the caller gave it. */
export interface Request {
  readonly kind: ReachKind;
  readonly asked: string;
  /** The path that `guard.enter` returned for `asked`. */
  readonly path: string;
}

/** A place in a folder that is held open. Its owner must close the folder. */
export interface Place {
  readonly folder: Folder;
  readonly name: string;
  readonly realPath: string;
  /** The facts of the file, folder or link at the place; `undefined` if there is nothing. */
  readonly stat: Stats | undefined;
}

/**
 * Called with the real path of the target, after it was checked and before a folder is created for
 * it.
 */
export type BeforeMaking = (realTarget: string) => void;

/** Options for missing folders that are created. */
export interface Making {
  readonly request: Request;
  /** The mode of created folders; the process's default if absent. */
  readonly mode?: number | undefined;
  readonly beforeMaking: BeforeMaking;
}

/**
 * Finds the place that a path names. Holds its folder open, and checks it.
 * @param options.follow whether a link as the last segment is followed
 * @returns `undefined` if the folder does not exist, and would be within the reach
 */
export function locate(
  world: World,
  request: Request,
  options: { follow: boolean },
): Place | undefined {
  let path = request.path;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    let folder: Folder;
    try {
      folder = world.access.openFolder(dirname(path), true);
    } catch (error) {
      judgeUnopened(world, { ...request, path });
      if (isMissing(error)) return undefined;
      throw error;
    }
    const found = inspect(world, request, {
      folder,
      name: basename(path),
      follow: options.follow,
    });
    if (typeof found !== 'string') return found;
    path = found;
  }
  // Another process replaces links faster than they can be followed.
  return world.guard.refuseLoop(request.kind, request.asked);
}

/** Does the same as `locate`, and creates the missing folders. */
export async function locateForWrite(
  world: World,
  request: Request,
  options: { follow: boolean; beforeMaking: BeforeMaking },
): Promise<Place> {
  let path = request.path;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const folder = await openOrMakeFolder(world, dirname(path), {
      request: { ...request, path },
      beforeMaking: options.beforeMaking,
    });
    const found = inspect(world, request, {
      folder,
      name: basename(path),
      follow: options.follow,
    });
    if (typeof found !== 'string') return found;
    path = found;
  }
  return world.guard.refuseLoop(request.kind, request.asked);
}

/**
 * Opens a folder, and creates it and the missing folders above it. Each one is checked through its
 * parent, which is held open, before and after it is created. The request's target is checked
 * before the first one is created.
 * @param path the path of the request, or of a folder above it
 * @throws `PATH_INVALID` if more than 64 parts of the path are missing
 */
export async function openOrMakeFolder(
  world: World,
  path: string,
  making: Making,
): Promise<Folder> {
  const { request, mode } = making;
  const { asked } = request;
  try {
    return world.access.openFolder(path, true);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) {
      judgeUnopened(world, { kind: 'write', asked, path });
      throw error;
    }
  }
  const parent = await openOrMakeFolder(world, dirname(path), making);
  try {
    const name = basename(path);
    const realPath = join(parent.realPath(), name);
    world.guard.judgeStep(realPath, asked);
    let isNew = false;
    if (lstatSync(parent.child(name), { throwIfNoEntry: false }) === undefined) {
      // Nothing exists here, so no link can be below. The rest of the path is where it leads.
      const realTarget = realPath + request.path.slice(path.length);
      world.guard.judge({ kind: 'write', asked }, realTarget);
      assertFew(asked, request.path.slice(path.length).split(sep).length);
      making.beforeMaking(realTarget);
      isNew = makeFolder(parent.child(name), mode);
    }
    const folder = openChild(world, asked, { parent, name });
    try {
      world.guard.judgeStep(folder.realPath(), asked);
      if (isNew) {
        // The mode that was asked for, without the umask.
        if (mode !== undefined) chmodSync(folder.child('.'), mode);
        await syncFolder(parent);
      }
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  } finally {
    parent.close();
  }
}

function assertFew(asked: string, missing: number): void {
  if (missing <= MAX_MISSING) return;
  const limit = `one call makes ${MAX_MISSING} at most; make the upper folders first`;
  throw new EthosError(
    'PATH_INVALID',
    `write ${asked}: ${missing} parts of the path are missing, and ${limit}`,
  );
}

/**
 * Called after a path could not be opened. Checks where it would have led: a link out of the reach
 * is denied, so that the error does not tell what exists on the other side.
 */
export function judgeUnopened(world: World, request: Request): void {
  const realPath = followLinks(request.path);
  if (realPath === undefined) world.guard.refuseLoop(request.kind, request.asked);
  world.guard.judge(request, realPath);
}

/** Makes the names in a folder survive a power failure, if the system supports that. */
export async function syncFolder(folder: Folder): Promise<void> {
  let fd: number;
  try {
    fd = openSync(folder.child('.'), constants.O_RDONLY);
  } catch {
    // A folder that may be written and not read, or Windows, which does not support it.
    return;
  }
  try {
    await fsyncAsync(fd);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'EINVAL' && errno !== 'ENOTSUP' && errno !== 'EPERM') throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns the place `name` in a held folder, or the path where the link there leads. Closes the
 * folder unless it returns it.
 */
function inspect(
  world: World,
  request: Request,
  { folder, name, follow }: { folder: Folder; name: string; follow: boolean },
): Place | string {
  let isKept = false;
  try {
    const realPath = join(folder.realPath(), name);
    world.guard.judge(request, realPath);
    const stat = lstatSync(folder.child(name), { throwIfNoEntry: false });
    if (follow && stat?.isSymbolicLink() === true) {
      const target = followLinks(realPath);
      if (target === undefined) return world.guard.refuseLoop(request.kind, request.asked);
      world.guard.judge(request, target);
      return target;
    }
    if (stat !== undefined) world.guard.judge(request, realPath, stat);
    isKept = true;
    return { folder, name, realPath, stat };
  } finally {
    if (!isKept) folder.close();
  }
}

/**
 * Creates a folder.
 * @returns whether the folder was created; `false` if it already existed
 */
function makeFolder(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, mode === undefined ? {} : { mode });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function openChild(
  world: World,
  asked: string,
  { parent, name }: { parent: Folder; name: string },
): Folder {
  try {
    return world.access.openFolder(parent.child(name), true);
  } catch (error) {
    judgeUnopened(world, { kind: 'write', asked, path: join(parent.realPath(), name) });
    if (isMissing(error)) {
      throw new EthosError('NOT_A_DIRECTORY', `write ${asked}: a part of the path is not a folder`);
    }
    throw error;
  }
}

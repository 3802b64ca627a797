import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { assertNotRevealed } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { errnoOf } from './errno.js';
import {
  locate,
  locateForWrite,
  type Place,
  type Request,
  syncFolder,
  type World,
} from './locate.js';

/** The parts of a place that a move needs. */
type Spot = Pick<Place, 'name' | 'realPath' | 'stat'>;

/**
 * Removes a file or a link, or a folder with everything in it. Links are removed and never
 * followed.
 * @param options.announce called once the place has been checked, before anything is changed
 */
export async function removePlace(
  world: World,
  request: Request,
  { recursive, announce }: { recursive: boolean; announce: () => void },
): Promise<void> {
  const place = locate(world, request, { follow: false });
  if (place === undefined) {
    announce();
    return;
  }
  const { folder, name, stat } = place;
  try {
    if (stat === undefined) {
      announce();
      return;
    }
    assertMovable(world, place, request.asked);
    const isFolder = stat.isDirectory();
    if (isFolder && !recursive) {
      throw new EthosError(
        'NOT_A_FILE',
        `remove ${request.asked}: it is a folder; ask for a recursive removal`,
      );
    }
    announce();
    if (isFolder) await removeFolder(world, request, folder.childBytes(Buffer.from(name)));
    else removeIfThere(() => unlinkSync(folder.child(name)));
  } finally {
    folder.close();
  }
}

/**
 * Moves a file, a link or a folder to another place. Replaces a file that is there.
 * @param move.announce called once both places have been checked, before anything is changed
 */
export async function renamePlace(
  world: World,
  { from, to, announce }: { from: Request; to: Request; announce: () => void },
): Promise<void> {
  const source = locate(world, from, { follow: false });
  if (source === undefined) throw missing(from.asked);
  try {
    if (source.stat === undefined) throw missing(from.asked);
    assertMovable(world, source, from.asked);
    const settle = (target: Spot) => {
      assertReplaceable(world, to.asked, { source, target });
      assertNotRevealed(world.guard, {
        source: source.realPath,
        target: target.realPath,
        asked: from.asked,
      });
      // The folder was held open for a while, and may have been moved. So its present place is
      // checked again.
      world.guard.judge(
        { kind: 'write', asked: from.asked },
        join(source.folder.realPath(), source.name),
      );
      announce();
    };
    const target = await locateForWrite(world, to, {
      follow: false,
      beforeMaking: (realPath) => settle({ name: basename(realPath), realPath, stat: undefined }),
    });
    try {
      settle(target);
      renameSync(source.folder.child(source.name), target.folder.child(target.name));
      await syncFolder(source.folder);
      await syncFolder(target.folder);
    } finally {
      target.folder.close();
    }
  } finally {
    source.folder.close();
  }
}

/** @param path the folder, below a folder that is held open */
async function removeFolder(world: World, request: Request, path: Buffer): Promise<void> {
  // The folder is opened without following links: if it was replaced by a link, it is not entered.
  const folder = world.access.openFolder(path, false);
  try {
    world.guard.judge({ kind: 'write', asked: request.asked }, folder.realPath());
    // Names need not be UTF-8, and as text they would name nothing.
    const options = { withFileTypes: true, encoding: 'buffer' } as const;
    for (const entry of await readdir(folder.child('.'), options)) {
      const child = folder.childBytes(entry.name);
      if (entry.isDirectory()) await removeFolder(world, request, child);
      else removeIfThere(() => unlinkSync(child));
    }
  } finally {
    folder.close();
  }
  removeIfThere(() => rmdirSync(path));
}

function removeIfThere(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** Refuses to remove or replace a root or a device. */
export function assertMovable(world: World, place: Spot, asked: string): void {
  const { stat, name, realPath } = place;
  world.guard.judgeMove(realPath, asked, stat === undefined || stat.isFile());
  if (name === '' || stat?.isCharacterDevice() === true || stat?.isBlockDevice() === true) {
    throw new EthosError('PERMISSION_DENIED', `write ${asked}: a root or a device stays in place`);
  }
}

function assertReplaceable(
  world: World,
  asked: string,
  { source, target }: { source: Spot; target: Spot },
): void {
  assertMovable(world, target, asked);
  world.guard.judgeMove(target.realPath, asked, source.stat?.isFile() === true);
  const { stat } = target;
  if (stat === undefined || target.realPath === source.realPath) return;
  const isReplaceable = stat.isFile() || stat.isSymbolicLink();
  if (!isReplaceable || source.stat?.isDirectory() === true) {
    throw new EthosError('ALREADY_EXISTS', `rename to ${asked}: only a file replaces a file`);
  }
}

function missing(asked: string): EthosError {
  return new EthosError('FILE_NOT_FOUND', `rename ${asked}: there is no such file or folder`);
}

import { type DirectoryReach, type PinnedDirectory, pinDirectory } from '@ethosagent/process';
import { BoundaryError, errorCodeOf } from '@ethosagent/types';

/** Where the children of a call may start. */
export interface StartFolders {
  /** The folders in which a child may start. */
  reach: DirectoryReach;
  /**
   * Where a child starts unless it names a folder, if that is within `reach`. Otherwise it starts
   * in the first root. The host's own working directory if absent.
   */
  workingDir: string | undefined;
}

/**
 * Opens the folder in which a child starts, so that nobody replaces it before the child has started.
 *
 * @param cwd the folder that the tool named
 * @param folders where the children of the call may start
 * @returns the folder, to be released when the child has started
 * @throws `PATH_NOT_REACHABLE`
 */
export function pinWorkingDirectory(
  cwd: string | undefined,
  { reach, workingDir }: StartFolders,
): PinnedDirectory {
  if (cwd !== undefined) return pinDirectory(cwd, reach);
  const wanted = workingDir ?? process.cwd();
  for (const candidate of [wanted, ...reach.roots]) {
    try {
      return pinDirectory(candidate, reach);
    } catch (error) {
      if (errorCodeOf(error) !== 'PATH_NOT_REACHABLE') throw error;
    }
  }
  throw new BoundaryError('read', wanted, 'no directory within the reach');
}

/**
 * Returns the real path of the folder in which a child starts.
 *
 * @param cwd the folder that the tool named
 * @param folders where the children of the call may start
 * @throws `PATH_NOT_REACHABLE`
 */
export function realWorkingDirectory(cwd: string | undefined, folders: StartFolders): string {
  const { real, release } = pinWorkingDirectory(cwd, folders);
  release();
  return real;
}

/**
 * Returns the real path of the folder in which a sandboxed child starts; `undefined` for the
 * sandbox's own folder, when the tool named none and the reach has none.
 *
 * @param cwd the folder that the tool named
 * @param folders where the children of the call may start
 * @throws `PATH_NOT_REACHABLE` for a folder that the tool named
 */
export function sandboxedDirectory(
  cwd: string | undefined,
  folders: StartFolders,
): string | undefined {
  try {
    return realWorkingDirectory(cwd, folders);
  } catch (error) {
    if (cwd === undefined && errorCodeOf(error) === 'PATH_NOT_REACHABLE') return undefined;
    throw error;
  }
}

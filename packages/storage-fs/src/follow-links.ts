import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { followLinks as follow } from '@ethosagent/policy';

/** Does the same as `followLinks` of `policy`, on this disk. */
export function followLinks(path: string, onLink?: (at: string) => void): string | undefined {
  return follow(path, { targetOf: linkTarget, ...(onLink !== undefined && { onLink }) });
}

/**
 * Returns the links that a path passes through, and where the path leads.
 *
 * @param path an absolute path
 * @returns absolute paths; `real` is `undefined` if the links form a circle
 */
export function linksOnTheWay(path: string): { links: string[]; real: string | undefined } {
  const links: string[] = [];
  const real = followLinks(path, (at) => links.push(at));
  return { links, real };
}

/**
 * Returns the real path of the file or folder at `path`. If there is none, returns the real path
 * that it would have.
 *
 * @param path an absolute path
 * @returns an absolute path
 */
export function realLocation(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return followLinks(path) ?? path;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(path) : undefined;
  } catch {
    // It may not be read, or is gone. Then nothing can follow it either.
    return undefined;
  }
}

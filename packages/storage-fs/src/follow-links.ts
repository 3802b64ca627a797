import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

const MAX_LINKS = 40;

/**
 * Where the system would end up for an absolute path, whether or not something is there.
 * `..` after a link is taken from where the link leads, as the kernel does.
 * @returns `undefined` for a loop
 */
export function followLinks(
  path: string,
  onLink: (at: string) => void = () => {},
): string | undefined {
  let at = parse(path).root;
  const pending = segmentsOf(path).reverse();
  let links = 0;
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (segment === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, segment);
    const target = linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    onLink(next);
    links += 1;
    if (links > MAX_LINKS) return undefined;
    if (isAbsolute(target)) at = parse(target).root;
    pending.push(...segmentsOf(target).reverse());
  }
  return at;
}

/** Where the links are that a path passes through, and where it leads; `undefined` for a loop. */
export function linksOnTheWay(path: string): { links: string[]; real: string | undefined } {
  const links: string[] = [];
  const real = followLinks(path, (at) => links.push(at));
  return { links, real };
}

/** The real path of what is at `path`, or the path that it would have if it were made. */
export function realLocation(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return followLinks(path) ?? path;
  }
}

function segmentsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((segment) => segment !== '' && segment !== '.');
}

function linkTarget(path: string): string | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(path) : undefined;
  } catch {
    // Not to be looked at, or gone meanwhile: then nothing can be followed through it either.
    return undefined;
  }
}

import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/** The same number as in the kernel. */
const MAX_LINKS = 40;

/** Looks at the disk for `followLinks`. */
export interface LinkReader {
  /** The target that the symbolic link at a path names; `undefined` where there is no link. */
  targetOf(path: string): string | undefined;
  /** Told of every link that is followed. */
  onLink?(path: string): void;
}

/**
 * Where the system would end up for an absolute path, whether or not something is there.
 * `..` after a link is taken from where the link leads, as the kernel does.
 *
 * @param path an absolute path
 * @param links says where a path is a link, and hears of each one that is followed
 * @returns the absolute path, or `undefined` where the links lead in a circle
 */
export function followLinks(path: string, links: LinkReader): string | undefined {
  let at = parse(path).root;
  const pending = segmentsOf(path).reverse();
  let followed = 0;
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (segment === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, segment);
    const target = links.targetOf(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links.onLink?.(next);
    followed += 1;
    if (followed > MAX_LINKS) return undefined;
    if (isAbsolute(target)) at = parse(target).root;
    pending.push(...segmentsOf(target).reverse());
  }
  return at;
}

function segmentsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((segment) => segment !== '' && segment !== '.');
}

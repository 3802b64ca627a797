import type { StdioOptions } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

let covered: ReadonlyMap<number, number> | undefined;

/**
 * The descriptors of a child. This process may itself have inherited descriptors that it would pass
 * on, and one of a folder would lead out of a sandbox, or out of the reach. So each of these becomes `/dev/null`.
 */
export function withoutInherited(stdio: readonly ('pipe' | 'ignore' | number)[]): StdioOptions {
  covered ??= coverInherited();
  if (covered.size === 0) return [...stdio];
  const last = Math.max(stdio.length - 1, ...covered.keys());
  return Array.from({ length: last + 1 }, (_, at) => {
    const own = stdio[at];
    // Node does not close an ignored descriptor above 2, so the child would inherit it.
    return own === undefined || (own === 'ignore' && at > 2) ? (covered?.get(at) ?? 'ignore') : own;
  });
}

function coverInherited(): Map<number, number> {
  if (process.platform !== 'linux') return new Map();
  const inherited = readdirSync('/proc/self/fd').map(Number).filter(isPassedOn);
  if (inherited.length === 0) return new Map();
  const nothing = openSync('/dev/null', 'r');
  return new Map(inherited.map((descriptor) => [descriptor, nothing]));
}

function isPassedOn(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '', 8);
    return (flags & O_CLOEXEC) === 0;
  } catch {
    // The descriptor was closed meanwhile: it was the one that listed the folder.
    return false;
  }
}

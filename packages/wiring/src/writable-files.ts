import { type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { personalityConfigPath } from './personality-file.js';
import type { RuntimeProblem } from './runtime-problem.js';

const OTHERS_WRITE = 0o022;

/**
 * Files and folders through which other users of the machine could change what a personality may
 * do.
 */
export function writableFileProblems(home: string, ids: readonly string[]): RuntimeProblem[] {
  if (process.platform === 'win32') return [];
  return ids.flatMap((id) => {
    const file = personalityConfigPath(home, id);
    return [file, dirname(file), join(home, 'personalities'), home].flatMap((path) => {
      const why = openToOthers(path);
      if (why === undefined) return [];
      const message = `${file}: ${why}`;
      return [{ file, key: '', tool: '', message, heldBack: false }];
    });
  });
}

function openToOthers(path: string): string | undefined {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (stats === undefined) return undefined;
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    return `other users may write ${path} (take that away: chmod go-w), and so change what this personality may do`;
  }
  const isOwn = stats.uid === 0 || stats.uid === process.geteuid?.();
  return isOwn
    ? undefined
    : `another user owns ${path} (make it your own: chown), and may so change what this personality may do`;
}

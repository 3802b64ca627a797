/** A line that matches. */
export interface Hit {
  /** The number of the line, counted from 1. */
  line: number;
  /** Where the first match starts in the line, in bytes, counted from 1. */
  column: number;
}

/**
 * Reads the paths of an output, each with a NUL after it. Text after the last NUL is a path that
 * was cut.
 */
export function parsePaths(stdout: string): string[] {
  return stdout.split('\0').slice(0, -1);
}

/**
 * Reads `path NUL line:column:` records.
 *
 * @param paths the files that were searched. They tell a path from a remark: ripgrep also writes
 *   remarks on binary files, which have no NUL and may be before a path
 */
export function parseHits(stdout: string, paths: readonly string[]): Map<string, Hit[]> {
  const hits = new Map<string, Hit[]>(paths.map((path) => [path, []]));
  const longest = paths.reduce((most, { length }) => Math.max(most, length), 0);
  let from = 0;
  for (;;) {
    const nul = stdout.indexOf('\0', from);
    const end = stdout.indexOf('\n', nul);
    if (nul === -1 || end === -1) return hits;
    const path = knownPath(stdout.slice(Math.max(from, nul - longest - 1), nul), hits);
    const [, line, column] = /^(\d+):(\d+):/.exec(stdout.slice(nul + 1, end)) ?? [];
    if (path !== undefined && line !== undefined && column !== undefined) {
      hits.get(path)?.push({ line: Number(line), column: Number(column) });
    }
    from = end + 1;
  }
}

/** Matches remarks of ripgrep on binary files. Each is a line before the next path. */
const REMARKS = /^(?:[^\0\n]*: (?:WARNING: stopped searching )?binary file[^\0\n]*\n)+/;

/**
 * Reads `path NUL line:column:` records of any files. A file name can look like a remark, so that
 * the parsed path is the path of another file. So the caller must read each path through its own
 * reach.
 */
export function parseAllHits(stdout: string): Map<string, Hit[]> {
  const hits = new Map<string, Hit[]>();
  let from = 0;
  for (;;) {
    const nul = stdout.indexOf('\0', from);
    const end = stdout.indexOf('\n', nul);
    if (nul === -1 || end === -1) return hits;
    let path = stdout.slice(from, nul);
    if (path.includes('\n')) path = path.replace(REMARKS, '');
    const [, line, column] = /^(\d+):(\d+):/.exec(stdout.slice(nul + 1, end)) ?? [];
    if (line !== undefined && column !== undefined) {
      const known = hits.get(path);
      const hit = { line: Number(line), column: Number(column) };
      if (known === undefined) hits.set(path, [hit]);
      else known.push(hit);
    }
    from = end + 1;
  }
}

function knownPath(text: string, known: ReadonlyMap<string, unknown>): string | undefined {
  let candidate = text;
  while (!known.has(candidate)) {
    const newline = candidate.indexOf('\n');
    if (newline === -1) return undefined;
    candidate = candidate.slice(newline + 1);
  }
  return candidate;
}

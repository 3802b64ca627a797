/** A line that matches. */
export interface Hit {
  /** 1-based. */
  line: number;
  /** 1-based, in bytes: where in the line the first match starts. */
  column: number;
}

/** The paths of an output in which each ends in NUL. What follows the last was cut off. */
export function parsePaths(stdout: string): string[] {
  return stdout.split('\0').slice(0, -1);
}

/**
 * Reads `path NUL line:column:` records.
 *
 * @param paths what was searched; ripgrep also writes remarks on binary files, which have no NUL
 * and may stand before a path
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

/** The remark of ripgrep on a binary file. It is a line before the next path. */
const REMARKS = /^(?:[^\0\n]*: (?:WARNING: stopped searching )?binary file[^\0\n]*\n)+/;

/**
 * Reads `path NUL line:column:` records of any files. The attack: a file name that looks like a remark, so
 * that the parsed path is another file. The caller must therefore read each path through its own reach.
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

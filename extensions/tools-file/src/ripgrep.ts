import type { ProcessResult, ScopedProcess } from '@ethosagent/types';
import {
  filterArguments,
  globArguments,
  patternArguments,
  type SearchPlace,
  type SearchQuery,
} from './ripgrep-arguments.js';
import { type Hit, parseAllHits, parseHits, parsePaths } from './ripgrep-output.js';

// A command line has a limit. The lowest is that of Windows: 32,767 characters.
const MAX_TARGET_CHARS = 20_000;

const ALWAYS = ['--no-config', '--no-messages', '--color=never', '--path-separator=/'];

export type FileList =
  /**
   * `paths` are relative to `cwd` and in no order. `isPartial` says that something could not be
   * read or was cut off. `hits` has the places in the files, if they were asked for and were not
   * too many.
   */
  | { ok: true; paths: string[]; isPartial: boolean; hits?: ReadonlyMap<string, Hit[]> }
  /** Why ripgrep refuses the pattern, a glob or the file type. */
  | { ok: false; reason: string };

/** Runs ripgrep as a process of the call. ripgrep reads no configuration file. */
export class Ripgrep {
  readonly #process: ScopedProcess;
  readonly #binary: string;

  constructor(process: ScopedProcess, binary: string) {
    this.#process = process;
    this.#binary = binary;
  }

  /**
   * Lists the files that match, or that have a match.
   *
   * @param maxHits how many matching lines of each file to find as well, at most; none when absent
   */
  async listFiles(query: SearchQuery, place: SearchPlace, maxHits?: number): Promise<FileList> {
    const globs = globArguments(query, place);
    const [found, matching] = await Promise.all([
      this.#list(query, place, { globs: [], maxHits }),
      // Two listings, because in one the globs would bring back files that the ignore files leave out.
      globs.length === 0
        ? undefined
        : this.#list({ ...query, pattern: undefined }, place, { globs }),
    ]);
    if (!found.ok || matching === undefined) return found;
    if (!matching.ok) return matching;
    const wanted = new Set(matching.paths);
    return {
      ...found,
      paths: found.paths.filter((path) => wanted.has(path)),
      isPartial: found.isPartial || matching.isPartial,
    };
  }

  async #list(
    query: SearchQuery,
    place: SearchPlace,
    { globs, maxHits }: { globs: readonly string[]; maxHits?: number | undefined },
  ): Promise<FileList> {
    const hasLines = query.pattern !== undefined && maxHits !== undefined;
    const what =
      query.pattern === undefined
        ? ['--files']
        : hasLines
          ? lineArguments(maxHits)
          : ['--files-with-matches'];
    // The last matching glob decides, so the excluded ones come last.
    const filter = [...globs, ...filterArguments(query, place)];
    const { exitCode, stdout, truncated } = await this.#spawn(
      [...what, '--null', ...patternArguments(query), ...filter],
      [place.target],
      place.cwd,
    );
    if (exitCode > 1 && stdout === '') {
      const reason = await this.#refusal(query, place, globs);
      if (reason !== undefined) return { ok: false, reason };
    }
    // There are too many lines. The list of their files is far smaller.
    if (hasLines && truncated === true) return this.#list(query, place, { globs });
    const isPartial = exitCode > 1 || truncated === true;
    if (!hasLines) return { ok: true, paths: parsePaths(stdout), isPartial };
    const hits = parseAllHits(stdout);
    return { ok: true, paths: [...hits.keys()], isPartial, hits };
  }

  /**
   * Finds the matching lines of files. It tells only their places: the caller reads the text
   * through its own reach.
   *
   * @param paths absolute paths
   * @param maxHits how many lines of each file to find at most
   */
  async findLines(
    query: SearchQuery,
    paths: readonly string[],
    maxHits: number,
  ): Promise<Map<string, Hit[]>> {
    const found = new Map<string, Hit[]>();
    for (const batch of inBatches(paths)) {
      const { stdout } = await this.#spawn(
        ['--null', ...lineArguments(maxHits), ...patternArguments(query)],
        batch,
        undefined,
      );
      for (const [path, hits] of parseHits(stdout, batch)) found.set(path, hits);
    }
    return found;
  }

  // A bad pattern and an unreadable file have the same exit code, so the pattern is tried without a file.
  async #refusal(
    query: SearchQuery,
    { cwd, target }: SearchPlace,
    globs: readonly string[],
  ): Promise<string | undefined> {
    const { exitCode, stderr } = await this.#spawn(
      [
        '--max-depth=0',
        ...patternArguments({ pattern: '', ...query }),
        ...globs,
        ...filterArguments(query, { target, ignoreFiles: [] }),
      ],
      ['.'],
      cwd,
    );
    return exitCode > 1 ? stderr.trim() : undefined;
  }

  #spawn(
    options: readonly string[],
    targets: readonly string[],
    cwd: string | undefined,
  ): Promise<ProcessResult> {
    const args = [...ALWAYS, ...options, '--', ...targets];
    return this.#process.spawn(this.#binary, args, cwd === undefined ? {} : { cwd });
  }
}

/** Returns the options that print the places of matching lines without their text. */
function lineArguments(maxHits: number): string[] {
  return [
    '--with-filename',
    '--no-heading',
    '--line-number',
    '--column',
    // ripgrep replaces a longer line by a remark.
    '--max-columns=1',
    `--max-count=${maxHits}`,
  ];
}

function inBatches(paths: readonly string[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const path of paths) {
    const batch = room < path.length ? undefined : batches.at(-1);
    if (batch === undefined) {
      batches.push([path]);
      room = MAX_TARGET_CHARS;
    } else batch.push(path);
    room -= path.length;
  }
  return batches;
}

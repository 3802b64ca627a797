import { resolve } from 'node:path';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import {
  errorCodeOf,
  type ScopedFs,
  type ScopedProcess,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '@ethosagent/types';
import { withBoundaryFailures } from './boundary-failure.js';
import { compileGlobs } from './file-globs.js';
import { type FileLines, fileLines } from './file-lines.js';
import { absolutePath, displayPath } from './file-path.js';
import { missingFile } from './missing-file.js';
import { reachableFiles } from './reachable-files.js';
import type { FileHits } from './render-search.js';
import { Ripgrep } from './ripgrep.js';
import type { SearchPlace, SearchQuery } from './ripgrep-arguments.js';
import type { Hit } from './ripgrep-output.js';
import { bundledRipgrepPath } from './ripgrep-path.js';
import { answerOf, type SearchFindings } from './search-answer.js';
import { searchHint } from './search-hints.js';
import { type SearchArgs, searchInput } from './search-input.js';
import { placeOf } from './search-place.js';
import { probeOf } from './search-probe.js';
import { smallestFirst } from './smallest-first.js';

/** Options of `createSearchFilesTool`. */
export interface SearchFilesOptions {
  /** The absolute path of a ripgrep to use instead of the one that comes with this package. */
  ripgrepPath?: string;
}

type SearchContext = Pick<ToolContext, 'workingDir' | 'resultBudgetChars' | 'abortSignal'> & {
  scopedFs: ScopedFs;
  scopedProcess: ScopedProcess;
};

const OPTIONS: OptionNames<SearchFilesOptions> = {
  ripgrepPath: true,
};

/**
 * Creates `search_files`, which searches files by content, by name, or both. It leaves out the
 * files that `.gitignore` names. Needs `fs_reach.read`, and `process` with ripgrep.
 *
 * @param options the path of ripgrep; the bundled one when absent
 * @returns the tool, ready to register
 */
export function createSearchFilesTool(options: SearchFilesOptions = {}): Tool<SearchArgs> {
  assertOptions('createSearchFilesTool', options, OPTIONS);
  const binary = options.ripgrepPath ?? bundledRipgrepPath;
  return defineTool({
    name: 'search_files',
    description:
      'Search files: by content with a pattern, by name with a glob, or both. Shows matching lines by file, or names. Leaves out hidden and binary files, and what .gitignore names.',
    toolset: 'file',
    input: searchInput,
    capabilities: {
      fs_reach: { read: 'from-personality' },
      process: { allowedBinaries: [binary] },
    },
    outputIsUntrusted: true,
    // The process is ripgrep, which only reads.
    effects: [],
    execute: (args, ctx) => withBoundaryFailures(() => search(args, ctx, binary)),
  });
}

/**
 * `search_files` with the ripgrep that comes with this package. Needs `fs_reach.read`, and
 * `process` with ripgrep.
 */
export const searchFilesTool = createSearchFilesTool();

async function search(args: SearchArgs, ctx: SearchContext, binary: string): Promise<ToolResult> {
  const { scopedFs: fs } = ctx;
  const root = absolutePath(ctx.workingDir, args.path);
  const place = await placeOf(fs, ctx.workingDir, root);
  if (place === undefined) return missingFile(fs, ctx.workingDir, root);
  if (place.cwd === undefined && args.glob !== undefined) {
    return err(
      `${displayPath(ctx.workingDir, root)} is a file, so there is nothing for a glob to choose from: leave out glob, or give the path of its folder.`,
      'input_invalid',
    );
  }
  const query: SearchQuery = {
    pattern: args.pattern,
    fixedString: args.fixed_string,
    case: args.case,
    globs: compileGlobs([args.glob ?? []].flat()),
    fileType: args.file_type,
    hidden: args.hidden,
    includeIgnored: args.include_ignored,
  };
  const ripgrep = new Ripgrep(ctx.scopedProcess, binary);
  const look = (one: SearchQuery) => lookFor(one, { args, ctx, ripgrep, place });
  const probe = probeOf(query);
  const wide = probe && (await look(probe.query));
  if (wide !== undefined && !wide.ok) return err(wide.reason, 'input_invalid');
  // A cut list may lack files that the search itself would find.
  const isWhole =
    wide?.isPartial === false && (wide.isNothing || probe?.isSame(wide.findings) === true);
  const looked = isWhole ? wide : await look(query);
  if (!looked.ok) return err(looked.reason, 'input_invalid');
  const hint =
    looked.isNothing && place.cwd !== undefined
      ? await searchHint(query, {
          fs,
          ripgrep,
          place: { ...place, cwd: place.cwd },
          workingDir: ctx.workingDir,
          signal: ctx.abortSignal,
          withBlanks: wide?.paths,
        })
      : undefined;
  const answer = answerOf(looked.findings, args, ctx);
  const { structured } = answer;
  const { isPartial } = looked;
  const value = hint === undefined ? answer.value : `${answer.value}\n[${hint}]`;
  return ok(isPartial ? `${value}\n[some files could not be searched]` : value, {
    structured: { root, ...structured, partial: isPartial },
  });
}

/** The findings of a search that are in reach, or why ripgrep refused it. */
type Looked =
  | {
      ok: true;
      findings: SearchFindings;
      isNothing: boolean;
      isPartial: boolean;
      /** The files that ripgrep lists, in reach or not. */
      paths: readonly string[];
    }
  | { ok: false; reason: string };

async function lookFor(
  query: SearchQuery,
  {
    args,
    ctx,
    ripgrep,
    place,
  }: { args: SearchArgs; ctx: SearchContext; ripgrep: Ripgrep; place: SearchPlace },
): Promise<Looked> {
  const wanted = args.max_results + 1;
  const list = await ripgrep.listFiles(query, place, wanted);
  if (!list.ok) return list;
  ctx.abortSignal.throwIfAborted();
  const paths = await reachableFiles(ctx.scopedFs, inOrder(list.paths, place, wanted), wanted);
  const findings: SearchFindings =
    query.pattern === undefined
      ? {
          mode: 'names',
          paths: paths.slice(0, args.max_results),
          hasMore: paths.length > args.max_results,
        }
      : await findLines(ctx, paths, {
          find: async (among, maxHits) =>
            hitsOf(list.hits, place, among) ?? ripgrep.findLines(query, among, maxHits),
          maxResults: args.max_results,
        });
  const isNothing =
    findings.mode === 'names' ? findings.paths.length === 0 : findings.files.length === 0;
  return { ok: true, findings, isNothing, isPartial: list.isPartial, paths: list.paths };
}

/** Gives the absolute paths of the listed files, in order. */
function* inOrder(
  listed: readonly string[],
  { cwd, target }: SearchPlace,
  likely: number,
): Generator<string> {
  if (cwd === undefined) {
    if (listed.length > 0) yield target;
    return;
  }
  for (const path of smallestFirst(listed, likely)) yield resolve(cwd, path);
}

/** Takes the matching lines of these files from the listing; `undefined` when it has no lines. */
function hitsOf(
  hits: ReadonlyMap<string, Hit[]> | undefined,
  { cwd }: SearchPlace,
  paths: readonly string[],
): Map<string, Hit[]> | undefined {
  if (hits === undefined) return undefined;
  const found = new Map<string, Hit[]>(paths.map((path) => [path, []]));
  for (const [listed, lines] of hits) {
    const path = cwd === undefined ? paths[0] : resolve(cwd, listed);
    if (path !== undefined && found.has(path)) found.set(path, lines);
  }
  return found;
}

/**
 * Finds the matching lines of files that are in reach. ripgrep tells only which lines match. Their
 * text is read through the reach, so that no other text can be shown.
 */
async function findLines(
  ctx: SearchContext,
  paths: readonly string[],
  {
    find,
    maxResults,
  }: {
    find: (paths: readonly string[], maxHits: number) => Promise<Map<string, Hit[]>>;
    maxResults: number;
  },
): Promise<SearchFindings> {
  const found = await find(paths.slice(0, maxResults), maxResults + 1);
  const files: FileHits[] = [];
  let room = maxResults;
  let hasMore = paths.length > maxResults;
  for (const [path, hits] of found) {
    ctx.abortSignal.throwIfAborted();
    if (hits.length > room) hasMore = true;
    if (room === 0) break;
    const lines = await readLines(ctx.scopedFs, path);
    if (lines === undefined || hits.length === 0) continue;
    const kept = hits.slice(0, room);
    room -= kept.length;
    files.push({ path, hits: kept, ...(lines !== 'too large' && { lines }) });
  }
  return { mode: 'content', files, hasMore };
}

/** Reads the lines of a file; `undefined` when it is gone, no longer in reach, or not text. */
async function readLines(fs: ScopedFs, path: string): Promise<FileLines | 'too large' | undefined> {
  try {
    return await fileLines(await fs.readBytes(path));
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'FILE_TOO_LARGE') return 'too large';
    if (code === undefined) throw error;
    return undefined;
  }
}

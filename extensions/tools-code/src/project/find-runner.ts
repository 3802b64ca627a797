import { dirname, extname } from 'node:path';
import { ancestors } from './file-path.js';
import type { ProjectFiles } from './project-files.js';
import { findMarker, type Marker } from './project-markers.js';
import type { Language, Runner } from './runner.js';

/** What a project uses. */
export interface FoundRunner<R> {
  runner: Runner<R>;
  /** The folder that shows it. */
  root: string;
  /** What shows it. */
  sign: string;
  /** Names of others that the same folder shows. */
  others: string[];
}

/** Where nothing was found: the folders that were looked at, the nearest first. */
export interface NoRunner {
  looked: string[];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascript',
  '.ts': 'javascript',
  '.mts': 'javascript',
  '.cts': 'javascript',
  '.tsx': 'javascript',
  '.py': 'python',
  '.pyi': 'python',
  '.rs': 'rust',
  '.go': 'go',
};

/** The language of a file, by the end of its name. */
export function languageOf(file: string): Language | undefined {
  return LANGUAGES[extname(file)];
}

/**
 * Finds what a project uses: in the nearest folder from the start upwards that shows anything, as
 * far as the reach goes.
 *
 * @param search `start`: a folder, or a file, for whose language it is then; `wanted`: the name of
 * the one to use
 */
export async function findRunner<R>(
  files: ProjectFiles,
  runners: readonly Runner<R>[],
  { start, wanted }: { start: { path: string; isFile: boolean }; wanted: string | undefined },
): Promise<FoundRunner<R> | NoRunner> {
  const language = start.isFile ? languageOf(start.path) : undefined;
  const candidates = runners.filter((runner) =>
    wanted === undefined
      ? language === undefined || runner.language === language
      : runner.name === wanted,
  );
  const looked: string[] = [];
  for (const folder of ancestors(start.isFile ? dirname(start.path) : start.path)) {
    if ((await files.names(folder)) === undefined) break;
    looked.push(folder);
    const found: { runner: Runner<R>; sign: Marker }[] = [];
    for (const runner of candidates) {
      const sign = await findMarker(files, folder, runner.signs);
      if (sign !== undefined) found.push({ runner, sign });
    }
    // The sort is stable: between equals, the order of the list decides.
    const [best, ...rest] = found.sort((a, b) => b.sign.strength - a.sign.strength);
    if (best !== undefined) {
      const others = rest.map(({ runner }) => runner.name);
      return { runner: best.runner, root: folder, sign: best.sign.what, others };
    }
  }
  const [asked] = candidates;
  const [nearest] = looked;
  // Who names one need not have set it up.
  if (wanted !== undefined && asked !== undefined && nearest !== undefined) {
    return { runner: asked, root: nearest, sign: 'asked for', others: [] };
  }
  return { looked };
}

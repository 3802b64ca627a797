import { dirname, extname } from 'node:path';
import { ancestors } from './file-path.js';
import { isPackage, isWorkspaceOf } from './package-boundary.js';
import type { ProjectFiles } from './project-files.js';
import { findMarker, type Marker } from './project-markers.js';
import type { Language, Runner } from './runner.js';

/** The tool that a project uses, and how that was found out. */
export interface FoundRunner<R> {
  runner: Runner<R>;
  /** The folder with the sign. */
  root: string;
  /** The sign that the project uses the tool, e.g. its configuration file. */
  sign: string;
  /** The names of other tools that the same folder has a sign of. */
  others: string[];
}

/** The folders that were searched without success, the nearest first. */
export interface NoRunner {
  looked: string[];
  /** The package that ended the search. Folders above it belong to other projects. */
  endedAt?: string;
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
  '.php': 'php',
  '.rb': 'ruby',
  '.java': 'java',
  '.kt': 'java',
  '.groovy': 'java',
};

/** Returns the language of a file, by the extension of its name. */
export function languageOf(file: string): Language | undefined {
  return LANGUAGES[extname(file)];
}

/**
 * Finds the tool of a project. It searches from the start upwards, inside the reach, and takes the
 * nearest folder with a sign. A JavaScript package decides for everything below it. If it has no
 * sign, it may be part of a workspace, and the root of the workspace decides.
 *
 * @param search `start` is a folder or a file; for a file, only tools for its language count.
 *   `wanted` is the name of the tool to use, if the caller names one
 * @returns the tool, or the folders that were searched
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
  // Folders above a package belong to others, unless a workspace there lists the package.
  const heedsPackages =
    wanted === undefined && (language === undefined || language === 'javascript');
  let nearestPackage: string | undefined;
  for (const folder of ancestors(start.isFile ? dirname(start.path) : start.path)) {
    if ((await files.names(folder)) === undefined) break;
    looked.push(folder);
    if (nearestPackage !== undefined && !(await isWorkspaceOf(files, folder, nearestPackage))) {
      continue;
    }
    const found: { runner: Runner<R>; sign: Marker }[] = [];
    for (const runner of candidates) {
      const sign = await findMarker(files, folder, runner.signs);
      if (sign !== undefined) found.push({ runner, sign });
    }
    // The sort is stable: between equals, the order of the list decides.
    const [best, ...rest] = found.sort((a, b) => b.sign.strength - a.sign.strength);
    if (best !== undefined) {
      // A script that is not understood does not count as another tool.
      const others = rest.flatMap(({ runner: { name, signs } }) =>
        signs.anyScript === undefined ? [name] : [],
      );
      return { runner: best.runner, root: folder, sign: best.sign.what, others };
    }
    if (heedsPackages && nearestPackage === undefined && (await isPackage(files, folder))) {
      nearestPackage = folder;
    }
  }
  const [asked] = candidates;
  const [nearest] = looked;
  // An explicitly named tool needs no configuration.
  const isTool = asked !== undefined && asked.signs.anyScript === undefined;
  if (wanted !== undefined && isTool && nearest !== undefined) {
    return { runner: asked, root: nearest, sign: 'asked for', others: [] };
  }
  return nearestPackage === undefined ? { looked } : { looked, endedAt: nearestPackage };
}

import { err } from '@ethosagent/plugin-sdk';
import { errorCodeOf, type ScopedFs, type ToolResult } from '@ethosagent/types';
import { displayPath } from './file-path.js';
import { nearNames } from './near-names.js';

/**
 * Returns a result that says that a file is missing, and which files in its folder have similar
 * names.
 */
export async function missingFile(
  fs: ScopedFs,
  workingDir: string,
  path: string,
): Promise<ToolResult> {
  const near = (await nearNames(fs, path)).map((candidate) => displayPath(workingDir, candidate));
  const next =
    near.length > 0
      ? `Did you mean ${near.join(' or ')}?`
      : 'Find the right path with search_files.';
  return err(
    `FILE_NOT_FOUND: there is nothing at ${displayPath(workingDir, path)}. ${next}`,
    'execution_failed',
    'FILE_NOT_FOUND',
  );
}

/** Reads a file. Returns `undefined` when there is none. */
export async function readIfThere(fs: ScopedFs, path: string): Promise<Uint8Array | undefined> {
  try {
    return await fs.readBytes(path);
  } catch (error) {
    if (errorCodeOf(error) === 'FILE_NOT_FOUND') return undefined;
    throw error;
  }
}

import type { AnyTool } from '@ethosagent/types';
import { patchFileTool } from './patch-file.js';
import { readFileTool } from './read-file.js';
import { createSearchFilesTool, type SearchFilesOptions } from './search-files.js';
import { writeFileTool } from './write-file.js';

/** Options of `createFileTools`. Only `search_files` has any. */
export type FileToolsOptions = SearchFilesOptions;

/**
 * Creates `read_file`, `write_file`, `patch_file` and `search_files`. All set `outputIsUntrusted`.
 *
 * @param options the path of ripgrep; the bundled one when absent
 * @returns the four tools, ready to register
 */
export function createFileTools(options: FileToolsOptions = {}): AnyTool[] {
  return [readFileTool, writeFileTool, patchFileTool, createSearchFilesTool(options)];
}

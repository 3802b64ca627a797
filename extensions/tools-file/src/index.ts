export { boundaryFailure } from './boundary-failure.js';
export type { FileToolsOptions } from './file-tools.js';
export { createFileTools } from './file-tools.js';
export { patchFileTool } from './patch-file.js';
export { readFileTool } from './read-file.js';
export type { SearchFilesOptions } from './search-files.js';
export { createSearchFilesTool, searchFilesTool } from './search-files.js';
export { writeFileTool } from './write-file.js';

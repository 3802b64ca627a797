export { memoryReadTool } from './memory-read.js';
export type { MemoryToolsOptions } from './memory-tools.js';
export { createMemoryTools } from './memory-tools.js';
export { memoryWriteTool } from './memory-write.js';
export type { SessionSearchToolOptions } from './session-search.js';
export { createSessionSearchTool, sessionSearchTool } from './session-search.js';

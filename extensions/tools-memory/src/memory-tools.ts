import type { AnyTool } from '@ethosagent/types';
import { memoryReadTool } from './memory-read.js';
import { memoryWriteTool } from './memory-write.js';
import { createSessionSearchTool, type SessionSearchToolOptions } from './session-search.js';

/** Options of `createMemoryTools`. Only `session_search` has any. */
export type MemoryToolsOptions = SessionSearchToolOptions;

/**
 * Creates `memory_read`, `memory_write` and `session_search`. All set `outputIsUntrusted` and
 * `supportsDryRun`.
 *
 * @param options a clock, in milliseconds since the epoch
 * @returns the three tools, ready to register
 */
export function createMemoryTools(options: MemoryToolsOptions = {}): AnyTool[] {
  return [memoryReadTool, memoryWriteTool, createSessionSearchTool(options)];
}

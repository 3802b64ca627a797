import { createHash } from 'node:crypto';
import { type HeldTool, type McpToolDefinition, readMcpTool } from '@ethosagent/policy';
import { canonicalJson } from './json-message.js';

/** A tool that passed the checks, with the hash that it is pinned by. */
export interface ListedTool {
  definition: McpToolDefinition;
  hash: string;
  /** Whether calls of the tool run as MCP tasks. */
  asTask?: boolean;
}

/**
 * Checks one entry of a server's list of tools. It never throws.
 *
 * @param tasks whether the server runs calls as tasks
 */
export function readListedTool(entry: unknown, tasks: boolean): ListedTool | HeldTool {
  const read = readMcpTool(entry, { tasks });
  if ('reason' in read) return read;
  const { definition, isTask } = read;
  return {
    definition,
    ...(isTask && { asTask: true }),
    hash: createHash('sha256').update(canonicalJson(definition)).digest('hex'),
  };
}

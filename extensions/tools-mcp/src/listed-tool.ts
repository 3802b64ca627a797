import { createHash } from 'node:crypto';
import { type HeldTool, type McpToolDefinition, readMcpTool } from '@ethosagent/policy';
import { canonicalJson } from './json-message.js';

/** A tool that passed the checks, with the hash of what it is pinned by. */
export interface ListedTool {
  definition: McpToolDefinition;
  hash: string;
}

/** Checks one entry of a server's list of tools. Never throws. */
export function readListedTool(entry: unknown): ListedTool | HeldTool {
  const read = readMcpTool(entry);
  if ('reason' in read) return read;
  const { definition } = read;
  return {
    definition,
    hash: createHash('sha256').update(canonicalJson(definition)).digest('hex'),
  };
}

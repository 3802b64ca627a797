import type { PersonalityConfig, ToolFilterOpts } from '@ethosagent/types';
import { mcpServerPart } from './mcp/mcp-names.js';

/**
 * Which MCP servers and plugins a personality lets in, as a registry takes it. A registry knows a
 * server by the part of its tools' names.
 *
 * @param personality whose filters are asked for
 * @returns the options; a filter that the personality does not have is absent
 */
export function toolFilters({ mcp_servers, plugins }: PersonalityConfig): ToolFilterOpts {
  return {
    ...(mcp_servers !== undefined && {
      allowedMcpServers: [...new Set([...mcp_servers, ...mcp_servers.map(mcpServerPart)])],
    }),
    ...(plugins !== undefined && { allowedPlugins: plugins }),
  };
}

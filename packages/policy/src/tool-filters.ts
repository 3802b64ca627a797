import type { PersonalityConfig, ToolFilterOpts } from '@ethosagent/types';

/**
 * Which MCP servers and plugins a personality lets in, as a registry takes it.
 *
 * @param personality whose filters are asked for
 * @returns the options; a filter that the personality does not have is absent
 */
export function toolFilters({ mcp_servers, plugins }: PersonalityConfig): ToolFilterOpts {
  return {
    ...(mcp_servers !== undefined && { allowedMcpServers: mcp_servers }),
    ...(plugins !== undefined && { allowedPlugins: plugins }),
  };
}

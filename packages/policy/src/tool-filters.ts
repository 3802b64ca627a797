import type { PersonalityConfig, ToolFilterOpts } from '@ethosagent/types';

/** Which MCP servers and plugins a personality lets in, as a registry takes it. */
export function toolFilters({ mcp_servers, plugins }: PersonalityConfig): ToolFilterOpts {
  return {
    ...(mcp_servers !== undefined && { allowedMcpServers: mcp_servers }),
    ...(plugins !== undefined && { allowedPlugins: plugins }),
  };
}

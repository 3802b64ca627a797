import { type MCP_BRIDGE_TOOLS, mcpToolPrefix } from '@ethosagent/policy';

export { mcpServerPart, mcpToolName, mcpToolPrefix } from '@ethosagent/policy';

export type BridgeTool = (typeof MCP_BRIDGE_TOOLS)[number];

/** Returns the name of one of the bridge's own tools for a server. */
export function bridgeToolName(server: string, tool: BridgeTool): string {
  return mcpToolPrefix(server) + tool;
}

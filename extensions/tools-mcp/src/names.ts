import { type MCP_BRIDGE_TOOLS, mcpServerPart } from '@ethosagent/policy';

export { mcpServerPart, mcpToolName } from '@ethosagent/policy';

export type BridgeTool = (typeof MCP_BRIDGE_TOOLS)[number];

/** The server in a name of the form `mcp__<server>__<tool>`. */
export function serverPartOf(name: string): string | undefined {
  return /^mcp__(.+?)__./s.exec(name)?.[1];
}

/** The name of one of the bridge's own tools for a server. */
export function bridgeToolName(server: string, tool: BridgeTool): string {
  return `mcp__${mcpServerPart(server)}__${tool}`;
}

import type { NetworkPolicy } from './tool.js';

/** What an operator lets the tools of one personality reach. */
export interface PersonalityConfig {
  id: string;
  name: string;
  description?: string;
  /** Names of tools, or group labels. Every built-in tool when absent. */
  toolset?: string[];
  fs_reach?: { read?: string[]; write?: string[] };
  safety?: { network?: NetworkPolicy };
  /** MCP servers whose tools are in. */
  mcp_servers?: string[];
  /** Plugins whose tools are in. */
  plugins?: string[];
}

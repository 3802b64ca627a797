import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isMcpToolName, mcpToolPrefix } from '@ethosagent/policy';
import type { ToolReach, ToolRuntime } from '@ethosagent/wiring';
import type { CommandContext } from './command-context.js';

/** The tools of MCP servers under a personality, with their declarations. */
export interface ServerTools {
  reach: ToolReach[];
  tool: ToolRuntime['tool'];
}

const NONE: ServerTools = { reach: [], tool: () => undefined };

/** The accepted tools of the MCP servers of a home, for use while no server is connected. */
export class PinnedServers {
  readonly #context: CommandContext;
  #runtime: Promise<ToolRuntime | undefined> | undefined;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  /** The tools of a personality's servers. */
  async of(personality: string): Promise<ServerTools> {
    this.#runtime ??= this.#open(personality);
    const runtime = await this.#runtime;
    if (runtime === undefined) return NONE;
    const reach = await runtime.reach(personality);
    return {
      reach: reach.filter(({ tool, given }) => given && isMcpToolName(tool)),
      tool: (name) => runtime.tool(name),
    };
  }

  async #open(personality: string): Promise<ToolRuntime | undefined> {
    const context = this.#context;
    const { mcp } = await context.config();
    // If the home creates its own bridge, only that bridge knows the accepted tools.
    if (typeof mcp === 'function') return undefined;
    const file = join(context.home, 'mcp.json');
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    return context.openRuntime({ personality, tools: [], mcp: 'pinned', lock: false });
  }
}

/**
 * Lists what the tools of a personality may touch, including those of MCP servers: their present
 * tools if the server is connected, otherwise the accepted ones.
 */
export async function reachWithServers(
  runtime: ToolRuntime,
  servers: Pick<PinnedServers, 'of'>,
  personality: string,
): Promise<ServerTools> {
  const reach = await runtime.reach(personality);
  const mine = runtime.mcp?.status().filter((each) => each.personality === personality) ?? [];
  const tool = (name: string) => runtime.tool(name);
  if (mine.length > 0 && mine.every(({ state }) => state === 'ready')) return { reach, tool };
  const connected = mine
    .filter(({ state }) => state === 'ready')
    .map(({ server }) => mcpToolPrefix(server));
  const pinned = await servers.of(personality);
  const known = new Set(reach.map((each) => each.tool));
  const more = pinned.reach.filter(
    ({ tool: name }) => !known.has(name) && !connected.some((part) => name.startsWith(part)),
  );
  return { reach: [...reach, ...more], tool: (name) => tool(name) ?? pinned.tool(name) };
}

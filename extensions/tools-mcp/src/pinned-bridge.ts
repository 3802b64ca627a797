import { type HeldTool, hasMcpServer } from '@ethosagent/policy';
import type { KeyValueStore, ToolRegistry } from '@ethosagent/types';
import type { McpBridge, McpBridgeOptions } from './bridge-api.js';
import type { McpServerConfig } from './config.js';
import { messageOf } from './connection-failure.js';
import { capabilitiesOf, variablesOf } from './declaration.js';
import { DEFAULT_LIMITS } from './limits.js';
import { mcpToolName } from './names.js';
import { isPinnedAs, pinnedTools } from './pins.js';
import { whyRefused } from './registered-tools.js';
import { serverPin } from './server-pin.js';
import { serverTool } from './server-tools.js';
import { isFilteredIn } from './tool-filter.js';

/** Options of `createPinnedMcpBridge`. */
export interface PinnedMcpBridgeOptions
  extends Pick<McpBridgeOptions, 'config' | 'workingDir' | 'variables'> {
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  pins: Pick<KeyValueStore, 'get' | 'list'>;
}

/** The state of a server that is not started. */
interface Standing {
  server: string;
  personality: string | undefined;
  state: 'pinned';
  reason: string;
  tools: string[];
  /** The tools that the registry refused. */
  held: HeldTool[];
}

/** The tools of a server in the registry, and why it has none when its pins can't be read. */
interface Registered {
  names: string[];
  held: HeldTool[];
  problem?: string;
}

/** The part of a bridge that a runtime needs to show which tools it would offer. */
export type PinnedMcpBridge = Pick<McpBridge, 'stop' | 'pending' | 'accept' | 'close'> & {
  start(personality?: string, servers?: readonly string[]): Promise<Standing[]>;
  status(): Standing[];
};

/**
 * Creates a bridge that shows the tools of MCP servers as they were when somebody accepted them. It
 * starts no server, and refuses calls. It leaves out the tools for resources and prompts, and every
 * server whose command or address has changed since.
 *
 * @param options the servers, the registry, and the pins
 * @returns the bridge
 */
export function createPinnedMcpBridge(options: PinnedMcpBridgeOptions): PinnedMcpBridge {
  const { config, registry, pins } = options;
  const variables = variablesOf(options);
  const registered = new Map<McpServerConfig, Promise<Registered>>();
  const standing = new Map<string, Standing>();

  const register = async (server: McpServerConfig): Promise<Registered> => {
    const names: string[] = [];
    const held: HeldTool[] = [];
    if (!(await isPinnedAs(pins, server.name, (await serverPin(server)).hash))) {
      return { names, held };
    }
    const capabilities = capabilitiesOf(server, variables);
    for (const listed of await pinnedTools(pins, server.name)) {
      const { name: tool } = listed.definition;
      if (!isFilteredIn(server, tool)) continue;
      const reason = whyRefused(registry, () =>
        serverTool(listed, {
          server,
          capabilities,
          timeoutMs: server.timeoutMs ?? DEFAULT_LIMITS.callTimeoutMs,
          approval: undefined,
          connectionFor: () => undefined,
        }),
      );
      if (reason === undefined) names.push(mcpToolName(server.name, tool));
      else held.push({ tool, reason });
    }
    return { names, held };
  };
  const registerOnce = (server: McpServerConfig) => {
    const known =
      registered.get(server) ??
      register(server).catch((error: unknown): Registered => {
        // The pins are read again at the next start. Other servers don't need them.
        registered.delete(server);
        return { names: [], held: [], problem: messageOf(error, (text) => text) };
      });
    registered.set(server, known);
    return known;
  };
  return {
    async start(personality, servers) {
      const chosen = config.servers.filter(({ name }) => hasMcpServer(servers, name));
      return Promise.all(
        chosen.map(async (server) => {
          const { names, held, problem } = await registerOnce(server);
          const told: Standing = {
            server: server.name,
            personality,
            state: 'pinned',
            reason:
              problem === undefined
                ? 'it is not started, and its tools are as they were accepted'
                : `it is not started, and offers no tools: ${problem}`,
            tools: names,
            held,
          };
          standing.set(JSON.stringify([server.name, personality ?? null]), told);
          return told;
        }),
      );
    },
    async stop(personality) {
      for (const [key, each] of standing) {
        if (each.personality === personality) standing.delete(key);
      }
    },
    status: () => [...standing.values()],
    pending: () => [],
    accept: async () => [],
    async close() {
      for (const { names } of await Promise.all(registered.values())) {
        for (const name of names) registry.unregister(name);
      }
      registered.clear();
      standing.clear();
    },
  };
}

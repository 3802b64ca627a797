import type { DefaultToolRegistry } from '@ethosagent/core';
import { isMcpToolName } from '@ethosagent/policy';
import type { PersonalityConfig } from '@ethosagent/types';
import {
  hostVariables,
  type McpServerIdentity,
  mcpProblems,
  openMcp,
  type RuntimeMcp,
  tokenStore,
} from './mcp.js';
import type { PersonalityConfigs } from './personality-configs.js';
import type { ToolRuntimeOptions } from './runtime-api.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { ServedMcp } from './served-mcp.js';
import type { StoresByName } from './stores/runtime-stores.js';

/** The parts of a runtime that its MCP servers use. */
export interface McpServersParts {
  readonly home: string;
  readonly cwd: string;
  readonly registry: DefaultToolRegistry;
  readonly personalities: PersonalityConfigs;
  readonly stores: StoresByName;
  /** The personality of a server that was opened without one. */
  readonly activePersonality: () => string;
}

/** The MCP servers of a runtime. There may be none. */
export class McpServers {
  readonly #parts: McpServersParts;
  #bridge: RuntimeMcp | undefined;
  #served: ServedMcp | undefined;

  constructor(parts: McpServersParts) {
    this.#parts = parts;
  }

  get bridge(): RuntimeMcp | undefined {
    return this.#bridge;
  }

  /** Creates the bridge. Starts no server. @throws `CONFIG_INVALID` */
  async open(mcp: NonNullable<ToolRuntimeOptions['mcp']>): Promise<RuntimeMcp> {
    const { home, cwd, registry, personalities, stores, activePersonality } = this.#parts;
    const bridge = await openMcp(mcp, home, {
      host: {
        openService: async (declaration, owner) => {
          const config = await personalities.get(owner.personalityId ?? activePersonality());
          return registry.openService(declaration, { ...owner, personalityId: config.id });
        },
      },
      registry,
      workingDir: cwd,
      variables: hostVariables(),
      pins: stores.keyValue('mcp', 'mcp:pins'),
      tokens: tokenStore(home, stores.secrets),
    });
    this.#bridge = bridge;
    this.#served = new ServedMcp(bridge, {
      servesToo: (before, now) => personalities.reachesTheSame(before, now),
    });
    return bridge;
  }

  /** Resolves when the servers of a personality have started, as far as they can in time. */
  async ready(config: PersonalityConfig): Promise<void> {
    await this.#served?.ready(config);
  }

  /** Returns the names of a personality's servers in the form that names of tools use. */
  namesOf(servers: readonly string[]): string[] {
    return this.#served?.namesOf(servers) ?? [...servers];
  }

  /** Returns how each server is reached, even if it was not started. */
  async identities(): Promise<readonly McpServerIdentity[]> {
    return (await this.#bridge?.identities?.()) ?? [];
  }

  /** Explains why a tool of a server can't be called. */
  whyMissing(name: string, personalityId: string): string | undefined {
    if (!isMcpToolName(name) || this.#parts.registry.get(name) !== undefined) return undefined;
    return this.#bridge?.whyMissing?.(name, personalityId);
  }

  problems(personalityId: string): RuntimeProblem[] {
    return this.#bridge === undefined
      ? []
      : mcpProblems(this.#bridge, this.#parts.home, personalityId);
  }

  async close(): Promise<void> {
    await this.#bridge?.close();
  }
}

import type { HeldTool } from '@ethosagent/policy';
import type { AnyTool, ToolRegistry } from '@ethosagent/types';
import type { McpServerConfig } from './config.js';
import type { Connection } from './connection.js';
import { mcpToolName } from './names.js';
import { promptTools } from './prompt-tools.js';
import { resourceTools } from './resource-tools.js';
import { type ServerToolOptions, serverTool } from './server-tools.js';

/** A tool that is in the registry. */
interface Registered {
  server: string;
  tool: string;
  /** The hash of the definition that was registered. */
  hash: string;
}

/** A tool that should be in the registry. */
interface Wanted {
  tool: string;
  hash: string;
  make: () => AnyTool;
}

/** Makes and registers a tool. Returns why it was refused. */
export function whyRefused(
  registry: Pick<ToolRegistry, 'register'>,
  make: () => AnyTool,
): string | undefined {
  try {
    registry.register(make());
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'was refused';
  }
}

/** Keeps the tools that a bridge has put into the registry. */
export class RegisteredTools {
  readonly #registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  readonly #maxListed: number;
  readonly #registered = new Map<string, Registered>();
  readonly #held = new Map<string, HeldTool[]>();

  constructor(registry: Pick<ToolRegistry, 'register' | 'unregister'>, maxListed: number) {
    this.#registry = registry;
    this.#maxListed = maxListed;
  }

  has(name: string): boolean {
    return this.#registered.has(name);
  }

  /** Returns the server and the tool of a name in the registry. */
  origin(name: string): { server: string; tool: string } | undefined {
    const registered = this.#registered.get(name);
    return registered && { server: registered.server, tool: registered.tool };
  }

  /** Returns the tools of a server that the registry refused. */
  heldOf(server: McpServerConfig): readonly HeldTool[] {
    return this.#held.get(server.name) ?? [];
  }

  /** Makes the registry have exactly the tools that the connections of a server offer. */
  sync(connections: readonly Connection[], options: ServerToolOptions): void {
    const { server } = options;
    const held: HeldTool[] = [];
    const wanted = new Map([
      ...this.#offeredBy(connections, options, held),
      ...this.#bridgesOwn(connections, options),
    ]);
    for (const [name, registered] of this.#registered) {
      if (registered.server !== server.name || wanted.has(name)) continue;
      this.#registered.delete(name);
      this.#registry.unregister(name);
    }
    for (const [name, { tool, hash, make }] of wanted) {
      if (this.#registered.get(name)?.hash === hash) continue;
      const reason = whyRefused(this.#registry, make);
      if (reason === undefined) this.#registered.set(name, { server: server.name, tool, hash });
      else held.push({ tool, reason });
    }
    this.#held.set(server.name, held);
  }

  clear(): void {
    for (const name of this.#registered.keys()) this.#registry.unregister(name);
    this.#registered.clear();
  }

  /** Returns the tools of the server itself, by their names in the registry. */
  #offeredBy(
    connections: readonly Connection[],
    options: ServerToolOptions,
    held: HeldTool[],
  ): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>();
    for (const [tool, listed] of connections.flatMap(({ offered }) => [...offered])) {
      const name = mcpToolName(options.server.name, tool);
      const known = wanted.get(name);
      if (known !== undefined && known.tool !== tool) {
        held.push({ tool, reason: `its name maps to that of ${known.tool}` });
      } else {
        wanted.set(name, { tool, hash: listed.hash, make: () => serverTool(listed, options) });
      }
    }
    return wanted;
  }

  /** Returns the bridge's own tools for the resources and prompts of a server. */
  #bridgesOwn(connections: readonly Connection[], options: ServerToolOptions): [string, Wanted][] {
    const listed = { ...options, maxListed: this.#maxListed };
    return [
      ...(connections.some((one) => one.hasResources) ? resourceTools(listed) : []),
      ...(connections.some((one) => one.hasPrompts) ? promptTools(listed) : []),
    ].map((tool) => [tool.name, { tool: tool.name, hash: 'bridge', make: () => tool }]);
  }
}

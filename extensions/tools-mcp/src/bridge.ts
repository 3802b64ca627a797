import { callListener, type HeldTool } from '@ethosagent/policy';
import {
  type AnyTool,
  EthosError,
  type ServiceHost,
  type ToolCapabilities,
  type ToolRegistry,
} from '@ethosagent/types';
import { finishAuthorization } from './authorization.js';
import type { McpElicitation, McpSampling } from './client.js';
import type { McpConfig, McpServerConfig } from './config.js';
import { Connection, type McpServerState } from './connection.js';
import { declarationOf } from './declaration.js';
import { DEFAULT_LIMITS, type McpLimits } from './limits.js';
import type { ListedTool } from './listed-tool.js';
import { mcpServerPart, mcpToolName, serverPartOf } from './names.js';
import type { McpAuthorize, McpTokenStore } from './oauth.js';
import { type McpPendingChange, type McpPinStore, Pins } from './pins.js';
import { promptTools } from './prompt-tools.js';
import { resourceTools } from './resource-tools.js';
import { type McpServerIdentity, serverIdentity, serverPin } from './server-pin.js';
import { type McpApproval, serverTool } from './server-tools.js';

export interface McpBridgeOptions {
  /** What `parseMcpConfig` read. */
  config: McpConfig;
  /** Opens what a server needs: a registry of `@ethosagent/core`. */
  host: ServiceHost;
  /** Where the tools go. */
  registry: Pick<ToolRegistry, 'register' | 'unregister'>;
  /** The working directory of servers that are told no other; also `${workspaceFolder}`. */
  workingDir?: string;
  /** Values for variables that are no secrets: `userHome`, `workspaceFolder`, … */
  variables?: Readonly<Record<string, string>>;
  /** What tools were at first use. Forgotten with the process when absent. */
  pins?: McpPinStore;
  /** Where tokens of OAuth are kept. Without it, `redirectUrl` and `onAuthorize`, no server is authorized. */
  tokens?: McpTokenStore;
  /** Where the authorization server sends the user back to. */
  redirectUrl?: string;
  /** Shows the user where to authorize a server; `finishAuthorization` gets the answer. */
  onAuthorize?: McpAuthorize;
  /** Asks a model for a server. Servers are refused without it. */
  onSampling?: McpSampling;
  /** Asks the user for a server. Servers are refused without it. */
  onElicitation?: McpElicitation;
  /** Whether a call needs approval, beside what the personality says. */
  requiresApproval?: McpApproval;
  /** Told after each change of a server, and of what it offers. */
  onStatus?: (status: McpServerStatus) => void;
  limits?: Partial<McpLimits>;
}

/** How a server stands for a personality. */
export interface McpServerStatus {
  server: string;
  personality: string | undefined;
  state: McpServerState;
  /** Why it is not ready. */
  reason?: string;
  /** What its sandbox has refused to it while it is ready, and how to allow it. */
  refused?: string;
  /** Names in the registry of what it offers. */
  tools: string[];
  /** What it lists and does not get into the registry, and why. */
  held: HeldTool[];
}

/** Puts the tools of MCP servers into a registry, and calls them. */
export interface McpBridge {
  /** What of the file is not read, or read in another way than it may be meant. */
  readonly notes: readonly string[];
  /**
   * Connects servers for a personality, and registers what they offer. A server that can't be
   * connected is in the status, with the reason.
   *
   * Without `waitMs`, all are tried now, also those that wait or are held back. With it, a start is
   * cheap and may come before each batch: it tries those that were not tried yet, and those that
   * have been held back for long enough; servers that wait for the user to authorize them are left
   * alone. Starts at once share what they wait for.
   *
   * @param servers names of servers, e.g. the personality's `mcp_servers`; all of them when absent
   * @param options `waitMs`: milliseconds after which it returns with what is ready; the others
   * connect on
   */
  start(
    personality?: string,
    servers?: readonly string[],
    options?: { waitMs?: number },
  ): Promise<McpServerStatus[]>;
  /** Ends the servers of a personality. */
  stop(personality?: string): Promise<void>;
  status(): McpServerStatus[];
  /** Tools that changed since they were pinned, and wait to be accepted. */
  pending(): McpPendingChange[];
  /**
   * Pins tools as they are now.
   *
   * @param tool one tool, as the server calls it; all of the server when absent
   * @param hash only if it is still what `pending` showed
   * @returns the tools that were accepted
   */
  accept(server: string, tool?: string, hash?: string): Promise<string[]>;
  /**
   * Takes the code of an authorization that `onAuthorize` began, and connects the server.
   *
   * @param state as it came back with the code
   * @throws `CONFIG_INVALID` for an unknown server, or where no authorization waits, or the state
   * is missing or another one; `NETWORK_FAILED` where there are no tokens for it
   */
  finishAuthorization(
    server: string,
    personality: string | undefined,
    code: string,
    state?: string,
  ): Promise<McpServerStatus>;
  /** How each server is reached, whether or not it was started. */
  identities(): Promise<McpServerIdentity[]>;
  /**
   * Why a name of the form `mcp__<server>__<tool>` is not in the registry: what a model may read of
   * it. The whole is in `status()`. `undefined` where the server was not started for the personality,
   * or has no such tool.
   */
  whyMissing(name: string, personality?: string): string | undefined;
  /** What a name in the registry stands for. */
  origin(name: string): { server: string; tool: string } | undefined;
  /** Ends all servers, and takes their tools out. Calls fail from then on. */
  close(): Promise<void>;
}

/** A tool that is in the registry. */
interface Registered {
  server: string;
  tool: string;
  /** What it was registered as. */
  hash: string;
}

/**
 * Bridges MCP servers into a registry, as `mcp__<server>__<tool>`.
 *
 * @example
 * ```ts
 * const bridge = createMcpBridge({ config: parseMcpConfig(text), host: registry, registry });
 * await bridge.start('coder');
 * ```
 */
export function createMcpBridge(options: McpBridgeOptions): McpBridge {
  return new Bridge(options);
}

class Bridge implements McpBridge {
  readonly notes: readonly string[];
  readonly #options: McpBridgeOptions;
  readonly #limits: McpLimits;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #servers = new Map<string, McpServerConfig>();
  readonly #connections = new Map<string, Connection>();
  /** Those that were asked for; the others were made by calls. */
  readonly #started = new WeakSet<Connection>();
  readonly #pins: Pins;
  readonly #registered = new Map<string, Registered>();
  readonly #refused = new Map<string, HeldTool[]>();
  #closed = false;

  constructor(options: McpBridgeOptions) {
    this.#options = options;
    this.notes = options.config.notes;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { workingDir } = options;
    const own = workingDir === undefined ? {} : { workspaceFolder: workingDir, cwd: workingDir };
    this.#variables = new Map(Object.entries({ ...own, '/': '/', ...options.variables }));
    this.#pins = new Pins(options.pins);
    for (const server of options.config.servers) {
      const known = this.#servers.get(mcpServerPart(server.name));
      if (known !== undefined) {
        throw new EthosError('CONFIG_INVALID', `two MCP servers are named ${server.name}`);
      }
      this.#servers.set(mcpServerPart(server.name), server);
    }
  }

  async start(
    personality?: string,
    servers?: readonly string[],
    { waitMs }: { waitMs?: number } = {},
  ): Promise<McpServerStatus[]> {
    const wanted = servers?.map((name) => mcpServerPart(name));
    const chosen = [...this.#servers.keys()].filter(
      // A list may name a server as it stands in the names of its tools.
      (part) => wanted === undefined || wanted.includes(part) || servers?.includes(part),
    );
    const connections = chosen.flatMap((part) => this.#connection(part, personality) ?? []);
    for (const connection of connections) this.#started.add(connection);
    await (waitMs === undefined
      ? Promise.all(connections.map((connection) => connection.start()))
      : within(waitMs, Promise.all(connections.map((connection) => connection.startIfDue()))));
    return connections.map((connection) => this.#statusOf(connection));
  }

  async stop(personality?: string): Promise<void> {
    const theirs = [...this.#connections].filter(([, one]) => one.personality === personality);
    for (const [key] of theirs) this.#connections.delete(key);
    await Promise.all(theirs.map(([, connection]) => connection.close()));
    for (const [, { server }] of theirs) this.#sync(server);
  }

  status(): McpServerStatus[] {
    return [...this.#connections.values()].map((connection) => this.#statusOf(connection));
  }

  pending(): McpPendingChange[] {
    return this.#pins.pending();
  }

  async accept(server: string, tool?: string, hash?: string): Promise<string[]> {
    const accepted = await this.#pins.accept(server, tool, hash);
    for (const connection of this.#connections.values()) {
      if (connection.server.name !== server) continue;
      if (accepted.includes('')) await connection.start();
      await this.#offer(connection);
      this.#sync(connection.server);
    }
    return accepted;
  }

  // biome-ignore lint/complexity/useMaxParams: a documented signature
  async finishAuthorization(
    server: string,
    personality: string | undefined,
    code: string,
    state?: string,
  ): Promise<McpServerStatus> {
    const config = this.#servers.get(mcpServerPart(server));
    const connection = this.#connection(mcpServerPart(server), personality);
    if (config?.kind !== 'remote' || connection === undefined) {
      throw new EthosError('CONFIG_INVALID', `there is no remote MCP server ${server}`);
    }
    const held = await this.#heldBack(config);
    if (held !== undefined) throw new EthosError('CONFIG_INVALID', `${server}: ${held}`);
    const answer = { code, ...(state === undefined ? {} : { state }) };
    await finishAuthorization({ server: config, personality }, answer, this.#connectOptions());
    await connection.start();
    return this.#statusOf(connection);
  }

  identities(): Promise<McpServerIdentity[]> {
    return Promise.all([...this.#servers.values()].map(serverIdentity));
  }

  whyMissing(name: string, personality?: string): string | undefined {
    const part = serverPartOf(name) ?? '';
    const connection = this.#connections.get(JSON.stringify([part, personality ?? null]));
    if (connection === undefined) return undefined;
    const { state } = connection;
    if (state !== 'ready')
      return `${name} is not available: the MCP server ${part} ${STANDING[state]}`;
    const { held } = this.#statusOf(connection);
    const isHeld = held.some(({ tool }) => mcpToolName(connection.server.name, tool) === name);
    return isHeld
      ? `${name} is held back until the operator has looked at it; go on without it`
      : undefined;
  }

  origin(name: string): { server: string; tool: string } | undefined {
    const registered = this.#registered.get(name);
    return registered && { server: registered.server, tool: registered.tool };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    for (const name of this.#registered.keys()) this.#options.registry.unregister(name);
    this.#registered.clear();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  /** The connection of a server for a personality; made where there is none, and there may be one. */
  #connection(part: string, personality: string | undefined): Connection | undefined {
    const server = this.#servers.get(part);
    if (this.#closed || server === undefined) return undefined;
    const key = JSON.stringify([part, personality ?? null]);
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    this.#forgetOne();
    const made = new Connection(server, personality, {
      ...this.#connectOptions(),
      onListed: (connection) => this.#offer(connection),
      makeRoom: (connection) => this.#makeRoom(connection),
      onChange: (connection) => {
        if (this.#connections.get(key) !== connection) return;
        // Of a sub-agent that is gone nobody would stop it.
        if (connection.state === 'idle' && isMet(personality)) this.#forget(key, connection);
        else this.#sync(server);
        this.#reportStatus(connection);
      },
    });
    this.#connections.set(key, made);
    return made;
  }

  #reportStatus(connection: Connection): void {
    callListener(() => this.#options.onStatus?.(this.#statusOf(connection)));
  }

  // Those that only calls have made, and those of sub-agents, come and go.
  #isSpare(connection: Connection): boolean {
    return isMet(connection.personality) || !this.#started.has(connection);
  }

  #forgetOne(): void {
    if (this.#connections.size < this.#limits.maxConnections) return;
    for (const [key, connection] of this.#connections) {
      if (connection.busy || !this.#isSpare(connection)) continue;
      this.#forget(key, connection);
      return;
    }
  }

  #forget(key: string, connection: Connection): void {
    this.#connections.delete(key);
    void connection.close().catch(() => {});
    this.#sync(connection.server);
  }

  /** Sees that one more connection may be made: closes the one that nobody has used for longest. */
  #makeRoom(wanting: Connection): string | undefined {
    const { maxConnections } = this.#limits;
    const alive = [...this.#connections].filter(([, one]) => one !== wanting && one.isAlive);
    if (alive.length < maxConnections) return undefined;
    const [victim] = alive
      .filter(([, one]) => !one.busy)
      .sort(
        ([, a], [, b]) =>
          Number(this.#isSpare(b)) - Number(this.#isSpare(a)) || a.usedAt - b.usedAt,
      );
    if (victim === undefined) {
      return `${maxConnections} connections are in use, and no more may be`;
    }
    const [key, connection] = victim;
    if (this.#isSpare(connection)) this.#forget(key, connection);
    else connection.sleep('it was closed to make room for another; the next call opens it again');
    return undefined;
  }

  #connectOptions() {
    const {
      host,
      workingDir,
      tokens,
      redirectUrl,
      onAuthorize,
      onSampling,
      onElicitation,
      config,
    } = this.#options;
    return {
      heldBack: (server: McpServerConfig) => this.#heldBack(server),
      host,
      limits: this.#limits,
      variables: this.#variables,
      inputs: config.inputs,
      workingDir,
      tokens,
      redirectUrl,
      onAuthorize,
      onSampling,
      onElicitation,
    };
  }

  async #heldBack(server: McpServerConfig): Promise<string | undefined> {
    if (await this.#pins.check(server.name, await serverPin(server))) return undefined;
    return `its command or address is not what it was when it was first used; look at pending() and accept it as ${server.name}, or restore it in mcp.json`;
  }

  /** Says which of the tools that a connection lists may be called. */
  async #offer(connection: Connection): Promise<void> {
    const { name } = connection.server;
    const offered = new Map<string, ListedTool>();
    for (const [tool, listed] of connection.listed) {
      if (await this.#pins.check(name, listed)) offered.set(tool, listed);
    }
    connection.offered = offered;
  }

  /** Makes the registry hold what the connections of a server offer, and no more. */
  #sync(server: McpServerConfig): void {
    if (this.#closed) return;
    const { registry } = this.#options;
    const wanted = new Map<string, { tool: string; hash: string; make: () => AnyTool }>();
    const held: HeldTool[] = [];
    const connections = [...this.#connections.values()].filter((one) => one.server === server);
    const toolOptions = this.#toolOptions(server);
    for (const { offered } of connections) {
      for (const [tool, listed] of offered) {
        const name = mcpToolName(server.name, tool);
        const known = wanted.get(name);
        if (known !== undefined && known.tool !== tool) {
          held.push({ tool, reason: `its name maps to that of ${known.tool}` });
        } else {
          wanted.set(name, {
            tool,
            hash: listed.hash,
            make: () => serverTool(listed, toolOptions),
          });
        }
      }
    }
    const listedOptions = { ...toolOptions, maxListed: this.#limits.maxListed };
    const own = [
      ...(connections.some((one) => one.hasResources) ? resourceTools(listedOptions) : []),
      ...(connections.some((one) => one.hasPrompts) ? promptTools(listedOptions) : []),
    ];
    for (const tool of own) {
      wanted.set(tool.name, { tool: tool.name, hash: 'bridge', make: () => tool });
    }
    for (const [name, registered] of this.#registered) {
      if (registered.server !== server.name || wanted.has(name)) continue;
      this.#registered.delete(name);
      registry.unregister(name);
    }
    for (const [name, { tool, hash, make }] of wanted) {
      if (this.#registered.get(name)?.hash === hash) continue;
      try {
        registry.register(make());
        this.#registered.set(name, { server: server.name, tool, hash });
      } catch (error) {
        held.push({ tool, reason: error instanceof Error ? error.message : 'was refused' });
      }
    }
    this.#refused.set(server.name, held);
  }

  #toolOptions(server: McpServerConfig) {
    const declared = declarationOf(server, this.#variables);
    const capabilities: ToolCapabilities = declared.ok ? declared.declaration.capabilities : {};
    return {
      server,
      capabilities,
      timeoutMs: server.timeoutMs ?? this.#limits.callTimeoutMs,
      approval: this.#options.requiresApproval,
      connectionFor: (personality: string | undefined) =>
        this.#connection(mcpServerPart(server.name), personality),
    };
  }

  #statusOf(connection: Connection): McpServerStatus {
    const { server, personality, state, reason, refused, listed, offered, held } = connection;
    const names = [...offered.keys()].map((tool) => mcpToolName(server.name, tool));
    const changed = [...listed.keys()]
      .filter((tool) => !offered.has(tool))
      .map((tool) => ({ tool, reason: 'changed since it was pinned; accept it to use it' }));
    return {
      server: server.name,
      personality,
      state,
      ...(reason === '' ? {} : { reason }),
      ...(refused === '' ? {} : { refused }),
      tools: names.filter((name) => this.#registered.has(name)),
      held: [...held, ...changed, ...(this.#refused.get(server.name) ?? [])],
    };
  }
}

/** How a server stands, for a model that calls a tool of it. */
const STANDING: Readonly<Record<Exclude<McpServerState, 'ready'>, string>> = {
  idle: 'is not started; call it again in a moment',
  connecting: 'is still starting; call it again in a moment',
  waiting: 'has failed and is started again; call it again later, or go on without it',
  held: 'could not be started; go on without it, and tell the user that the operator has to look at it',
  closed: 'was closed',
};

/** Whether a personality is met from others, as that of a sub-agent is. */
function isMet(personality: string | undefined): boolean {
  return personality?.includes('/') === true;
}

/** Waits for work, and not for longer than it may take. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

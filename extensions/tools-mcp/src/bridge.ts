import { callListener, hasMcpServer, mcpServerOf } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { finishAuthorization } from './authorization.js';
import type { McpBridge, McpBridgeOptions, McpServerStatus } from './bridge-api.js';
import { complete, type McpCompletion, type McpCompletionRequest } from './complete.js';
import type { McpServerConfig } from './config.js';
import type { Connection, McpServerState } from './connection.js';
import { ConnectionTable } from './connection-table.js';
import { capabilitiesOf, variablesOf } from './declaration.js';
import { DEFAULT_LIMITS, type McpLimits } from './limits.js';
import { mcpServerPart, mcpToolName } from './names.js';
import { type McpPendingChange, Pins } from './pins.js';
import { RegisteredTools } from './registered-tools.js';
import { type McpServerIdentity, serverIdentity, serverPin } from './server-pin.js';
import type { ServerToolOptions } from './server-tools.js';

/**
 * Creates a bridge that puts the tools of MCP servers into a registry, as `mcp__<server>__<tool>`.
 * No server is started before `start` or the first call.
 *
 * @param options the servers, the registry, and the host that opens their services
 * @returns the bridge
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
  readonly #connections: ConnectionTable;
  readonly #pins: Pins;
  readonly #tools: RegisteredTools;
  #closed = false;

  constructor(options: McpBridgeOptions) {
    this.#options = options;
    this.notes = options.config.notes;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#variables = variablesOf(options);
    this.#pins = new Pins(options.pins);
    this.#tools = new RegisteredTools(options.registry, this.#limits.maxListed);
    this.#connections = new ConnectionTable({
      ...this.#connectOptions(),
      onListed: (connection) => this.#offer(connection),
      onChange: (connection) => {
        this.#sync(connection.server);
        callListener(() => options.onStatus?.(this.#statusOf(connection)));
      },
      onForgotten: ({ server }) => this.#sync(server),
    });
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
    const connections = [...this.#servers]
      .filter(([, { name }]) => hasMcpServer(servers, name))
      .flatMap(([part]) => this.#connection(part, personality) ?? []);
    for (const connection of connections) this.#connections.keep(connection);
    await (waitMs === undefined
      ? Promise.all(connections.map((connection) => connection.start()))
      : within(waitMs, Promise.all(connections.map((connection) => connection.startIfDue()))));
    return connections.map((connection) => this.#statusOf(connection));
  }

  async stop(personality?: string): Promise<void> {
    const theirs = this.#connections.take((one) => one.personality === personality);
    await Promise.all(theirs.map((connection) => connection.close()));
    for (const { server } of theirs) this.#sync(server);
  }

  status(): McpServerStatus[] {
    return this.#connections.all().map((connection) => this.#statusOf(connection));
  }

  pending(): McpPendingChange[] {
    return this.#pins.pending();
  }

  async accept(server: string, tool?: string, hash?: string): Promise<string[]> {
    const accepted = await this.#pins.accept(server, tool, hash);
    for (const connection of this.#connections.all()) {
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

  async complete(
    server: string,
    request: McpCompletionRequest,
    personality?: string,
  ): Promise<McpCompletion> {
    const connection = this.#connection(mcpServerPart(server), personality);
    if (connection === undefined) {
      throw new EthosError('TOOL_UNAVAILABLE', `there is no MCP server ${server}`);
    }
    return complete(connection, request);
  }

  identities(): Promise<McpServerIdentity[]> {
    return Promise.all([...this.#servers.values()].map(serverIdentity));
  }

  whyMissing(name: string, personality?: string): string | undefined {
    const part = mcpServerOf(name) ?? '';
    const connection = this.#connections.get(part, personality);
    if (connection === undefined) return undefined;
    const { state } = connection;
    if (state !== 'ready')
      return `${name} is not available: the MCP server ${part} ${STANDING[state]}`;
    const { held } = this.#statusOf(connection);
    const isHeld = held.some(({ tool }) => mcpToolName(connection.server.name, tool) === name);
    return isHeld
      ? `${name} may not be used until the operator accepts it; go on without it, and tell the user`
      : undefined;
  }

  origin(name: string): { server: string; tool: string } | undefined {
    return this.#tools.origin(name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connections = this.#connections.take(() => true);
    this.#tools.clear();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  /** Returns the connection of a server for a personality. It is created if the limit allows it. */
  #connection(part: string, personality: string | undefined): Connection | undefined {
    const server = this.#servers.get(part);
    if (this.#closed || server === undefined) return undefined;
    return this.#connections.open(part, server, personality);
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
      onLog,
      logLevel = 'info',
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
      onLog,
      logLevel,
    };
  }

  async #heldBack(server: McpServerConfig): Promise<string | undefined> {
    if (await this.#pins.check(server.name, await serverPin(server))) return undefined;
    return `its command, address, variables or headers changed since it was accepted; look at the change with "ethosagent mcp diff ${server.name}" (in a program: pending()) and accept it, or restore the entry in mcp.json`;
  }

  /** Decides which tools of a connection may be called. */
  async #offer(connection: Connection): Promise<void> {
    const { server, listed } = connection;
    const connections = this.#connections.all().filter((one) => one.server === server);
    connection.offered = await this.#pins.offer(
      server.name,
      listed,
      (tool) => listed.has(tool) || connections.some((one) => one.listed.has(tool)),
    );
  }

  #sync(server: McpServerConfig): void {
    if (this.#closed) return;
    const connections = this.#connections.all().filter((one) => one.server === server);
    this.#tools.sync(connections, this.#toolOptions(server));
  }

  #toolOptions(server: McpServerConfig): ServerToolOptions {
    return {
      server,
      capabilities: capabilitiesOf(server, this.#variables),
      timeoutMs: server.timeoutMs ?? this.#limits.callTimeoutMs,
      approval: this.#options.requiresApproval,
      connectionFor: (personality) => this.#connection(mcpServerPart(server.name), personality),
    };
  }

  #statusOf(connection: Connection): McpServerStatus {
    const { server, personality, state, reason, refused, listed, offered, held } = connection;
    const { name } = server;
    const names = [...offered.keys()].map((tool) => mcpToolName(server.name, tool));
    const changed = [...listed.keys()]
      .filter((tool) => !offered.has(tool))
      .map((tool) => ({
        tool,
        reason: `${WAITS[this.#pins.waiting(name, tool) ?? 'changed']}; look at it with "ethosagent mcp diff ${name}" (in a program: pending()), and accept it to use it`,
      }));
    return {
      server: server.name,
      personality,
      state,
      ...(reason === '' ? {} : { reason }),
      ...(refused === '' ? {} : { refused }),
      tools: names.filter((name) => this.#tools.has(name)),
      held: [...held, ...changed, ...this.#tools.heldOf(server)],
    };
  }
}

const WAITS = {
  added: 'was added since the server was accepted',
  changed: 'changed since it was accepted',
};

/** The words that tell a model about the state of a server. */
const STANDING: Readonly<Record<Exclude<McpServerState, 'ready'>, string>> = {
  idle: 'is not started; call it again in a moment',
  connecting: 'is still starting; call it again in a moment',
  waiting: 'has failed and is started again; call it again later, or go on without it',
  held: 'could not be started; go on without it, and tell the user that the operator has to look at it',
  closed: 'was closed; go on without it, and tell the user',
};

/** Waits for work, but at most `ms` milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type CapabilityBackends,
  DefaultToolRegistry,
  DefaultToolResultReducerRegistry,
  type TurnHost,
  validateDeclaration,
} from '@ethosagent/core';
import { createPluginHost, type PluginHost } from '@ethosagent/plugin-sdk';
import { expandToolset, SessionReads, toolFilters } from '@ethosagent/policy';
import {
  createAttachmentCache,
  createFileSecrets,
  FsStorage,
  ScopedStorage,
} from '@ethosagent/storage-fs';
import type { SqliteKvStore } from '@ethosagent/storage-sqlite';
import {
  type AnyTool,
  type AuditSink,
  EthosError,
  type MemoryProvider,
  type PersonalityConfig,
  type SessionStore,
  type Storage,
  type ToolBatchContext,
  type ToolCall,
  type ToolCallResult,
  type ToolDefinition,
  type ToolFilterOpts,
} from '@ethosagent/types';
import { hostVariables, mcpProblems, openMcp, type RuntimeMcp, tokenStore } from './mcp.js';
import { PersonalityConfigs } from './personality-configs.js';
import { personalityConfigPath } from './personality-file.js';
import type { PersonalityStore } from './personality-store.js';
import { findProblems, type RuntimeProblem } from './problems.js';
import { baseEnvironment } from './process-env.js';
import { heldBack, leftOut, malformed, refuseAll } from './refusals.js';
import type { ExecuteOptions, ToolReach, ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
import { ServedMcp } from './served-mcp.js';
import type { PickedTools } from './tools-by-name.js';

/** What is open until the runtime is closed. */
export interface Closable {
  close(): void;
}

export function closeAll(opened: Closable[]): void {
  for (const each of opened.splice(0)) each.close();
}

/** What a runtime is put together from. */
export interface RuntimeParts {
  options: ToolRuntimeOptions;
  picked: PickedTools;
  cwd: string;
  personalities: PersonalityStore;
  store: SqliteKvStore;
  memory: MemoryProvider;
  sessions: SessionStore;
  audit: AuditSink;
  denyPaths: string[];
  /** What `close` closes. */
  opened: Closable[];
}

/** Holds the tools to the personality of each batch, as its file says by then. */
export class Runtime implements ToolRuntime {
  readonly registry: DefaultToolRegistry;
  readonly plugins: PluginHost;
  readonly memory: MemoryProvider;
  readonly sessions: SessionStore;
  mcp?: RuntimeMcp;
  readonly #parts: RuntimeParts;
  readonly #storage = new FsStorage();
  readonly #sessionId: string;
  readonly #checked = new WeakMap<
    PersonalityConfig,
    { tools: readonly AnyTool[]; plugins: readonly string[]; problems: RuntimeProblem[] }
  >();
  readonly #scoped = new WeakMap<PersonalityConfig, Storage>();
  readonly #reads = new SessionReads();
  readonly #running = new Map<AbortController, Promise<unknown>>();
  readonly #reducers = new DefaultToolResultReducerRegistry();
  readonly #personalities: PersonalityConfigs;
  #personalityId: string;
  #served: ServedMcp | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: RuntimeParts) {
    const { options } = parts;
    this.#parts = parts;
    this.memory = parts.memory;
    this.sessions = parts.sessions;
    this.#personalityId = options.personality;
    this.#sessionId = options.sessionId ?? randomUUID();
    this.registry = new DefaultToolRegistry(this.#backends(), this.#reducers, options.limits);
    this.#personalities = new PersonalityConfigs({
      home: options.home,
      store: parts.personalities,
      tools: () => this.registry.list(),
      endServices: (personalityId) => this.registry.endServices({ personalityId }),
    });
    this.plugins = createPluginHost({ registry: this.registry, reducers: this.#reducers });
  }

  async start(): Promise<void> {
    const { reducers = [], plugins = [], mcp } = this.#parts.options;
    const { tools, reducers: own } = this.#parts.picked;
    try {
      // Registration refuses what has no shape to look into.
      this.registry.registerAll(tools);
      assertDeclarations(tools);
      for (const reducer of reducers) this.#reducers.register(reducer);
      const taken = new Set(reducers.map(({ toolName }) => toolName));
      for (const reducer of own) if (!taken.has(reducer.toolName)) this.#reducers.register(reducer);
      for (const plugin of plugins) await this.plugins.load(plugin);
      if (mcp !== undefined) {
        this.mcp = await this.#openMcp(mcp);
        this.#served = new ServedMcp(this.mcp, {
          servesToo: (before, now) => this.#personalities.reachesTheSame(before, now),
        });
      }
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  get personalityId(): string {
    return this.#personalityId;
  }

  personality(id: string = this.#personalityId): Promise<PersonalityConfig> {
    return this.#personalities.get(id);
  }

  async personalities(): Promise<{ id: string; description?: string }[]> {
    const { personalities } = this.#parts;
    const all = (await personalities.list()).map((id) => personalities.peek(id) ?? []);
    return all.flat().map(({ id, description }) => ({
      id,
      ...(description !== undefined && { description }),
    }));
  }

  tool(name: string): AnyTool | undefined {
    return this.registry.get(name);
  }

  async definitions(personality: string = this.#personalityId): Promise<ToolDefinition[]> {
    const config = await this.#ready(personality);
    const held = this.#heldBack(config);
    return this.registry
      .toDefinitions(this.#toolNames(config), this.#filters(config))
      .filter(({ name }) => !held.has(name));
  }

  async execute(
    calls: readonly ToolCall[],
    options: ExecuteOptions = {},
  ): Promise<ToolCallResult[]> {
    if (!Array.isArray(calls)) return [];
    // The caller may go on to change its array.
    const batch: readonly ToolCall[] = Array.from(calls);
    let config: PersonalityConfig;
    try {
      const id = options.personality ?? this.#personalityId;
      const asksServer = batch.some((call) => isMcpName(Object(call).name));
      config = await (asksServer
        ? unlessAborted(this.#ready(id), options.abortSignal)
        : this.#personalities.get(id));
    } catch (error) {
      return refuseAll(batch, error instanceof Error ? error.message : String(error));
    }
    // After the wait: what begins now would run on stores that are closed.
    if (this.#closing !== undefined) return refuseAll(batch, 'the runtime is closed');
    const held = this.#heldBack(config);
    const refusals = batch.map(
      (call, index) =>
        malformed(call, index) ??
        leftOut(call, options.tools) ??
        heldBack(call, held.get(call.name)),
    );
    for (const refusal of refusals) if (refusal !== undefined) tell(options.host, refusal);
    const admitted = batch.filter((_, index) => refusals[index] === undefined);
    const { controller, unlink } = linkedController(options.abortSignal);
    const running = this.registry.executeParallel(
      admitted,
      this.#context(config, options, controller.signal),
      this.#toolNames(config),
      this.#filters(config),
      options.attachments,
      options.host,
    );
    this.#running.set(controller, running);
    const results = await running;
    this.#running.delete(controller);
    unlink();
    const answered = results.values();
    return refusals.flatMap((refusal) => refusal ?? answered.next().value ?? []);
  }

  async switchPersonality(id: string): Promise<void> {
    await this.#personalities.get(id);
    this.#personalityId = id;
  }

  async problems(): Promise<RuntimeProblem[]> {
    const config = await this.#ready(this.#personalityId);
    const { home } = this.#parts.options;
    const ofServers = this.mcp === undefined ? [] : mcpProblems(this.mcp, home, config.id);
    return [...this.#problems(config), ...ofServers];
  }

  async reach(): Promise<ToolReach[]> {
    const config = await this.#ready(this.#personalityId);
    const offered = new Set((await this.definitions()).map(({ name }) => name));
    const ctx = {
      sessionId: this.#sessionId,
      personalityId: config.id,
      ...networkOf(config),
    };
    return this.registry.list().map(({ name, description }) => ({
      tool: name,
      description,
      offered: offered.has(name),
      grant: this.registry.describe(name, ctx) ?? {},
    }));
  }

  async endSession(sessionId: string = this.#sessionId): Promise<void> {
    this.#reads.forget(sessionId);
    await this.registry.endSession(sessionId);
  }

  close(): Promise<void> {
    // On a later tick, so that a listener of the abort that closes too gets the same promise.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const controller of this.#running.keys()) {
      controller.abort(new DOMException('the runtime was closed', 'AbortError'));
    }
    await Promise.allSettled(this.#running.values());
    await this.mcp?.close();
    await this.registry.endAllSessions();
    try {
      for (const { id } of this.plugins.list()) await this.plugins.unload(id);
    } finally {
      closeAll(this.#parts.opened);
    }
  }

  #openMcp(mcp: NonNullable<ToolRuntimeOptions['mcp']>): Promise<RuntimeMcp> {
    const { options, cwd, store } = this.#parts;
    return openMcp(mcp, options.home, {
      host: {
        openService: async (declaration, owner) => {
          const config = await this.#personalities.get(owner.personalityId ?? this.#personalityId);
          return this.registry.openService(declaration, { ...owner, personalityId: config.id });
        },
      },
      registry: this.registry,
      workingDir: cwd,
      variables: hostVariables(),
      pins: store.kvStoreFactory('mcp', 'mcp:pins'),
      tokens: tokenStore(options.home),
    });
  }

  #filters(config: PersonalityConfig): ToolFilterOpts {
    const { mcp_servers } = config;
    const filters = toolFilters(config);
    if (mcp_servers === undefined || this.#served === undefined) return filters;
    return { ...filters, allowedMcpServers: this.#served.namesOf(mcp_servers) };
  }

  /** The config of a personality whose MCP servers are there, as far as they can be. */
  async #ready(id: string): Promise<PersonalityConfig> {
    const config = await this.#personalities.get(id);
    if (this.#closing === undefined) await this.#served?.ready(config);
    return config;
  }

  #backends(): CapabilityBackends {
    const { options, store, memory, sessions, audit, denyPaths } = this.#parts;
    const { approve, fetch, lookup } = options;
    return {
      kvStoreFactory: store.kvStoreFactory,
      secretsBackend:
        options.secrets ?? createFileSecrets({ dir: join(options.home, 'secrets') }).get,
      storage: this.#storage,
      attachments: createAttachmentCache({ dir: join(options.home, 'attachments') }),
      memory,
      sessions,
      personality: (id) => {
        const config = this.#personalities.at(id);
        return config && { ...config, fs_reach: this.#personalities.reachOf(config) };
      },
      processEnv: baseEnvironment(options.env ?? hostEnvironment(), options.passEnv),
      denyPaths,
      audit,
      ...(approve !== undefined && { approve }),
      ...(fetch !== undefined && { fetch }),
      ...(lookup !== undefined && { lookup }),
    };
  }

  #context(
    config: PersonalityConfig,
    options: ExecuteOptions,
    abortSignal: AbortSignal,
  ): ToolBatchContext {
    const sessionId = options.sessionId ?? this.#sessionId;
    return {
      sessionId,
      sessionKey: options.sessionKey ?? sessionId,
      platform: options.platform ?? 'api',
      workingDir: this.#parts.cwd,
      personalityId: config.id,
      currentTurn: options.currentTurn ?? 1,
      messageCount: options.messageCount ?? 0,
      abortSignal,
      emit: options.emit ?? (() => {}),
      storage: this.#scopedStorage(config),
      readMtimes: this.#reads.of(sessionId),
      ...networkOf(config),
      ...pick(options, ['agentId', 'memoryScope', 'memoryScopeId', 'userScopeId', 'teamId']),
      ...(options.resultBudgetChars !== undefined && {
        resultBudgetChars: options.resultBudgetChars,
      }),
      ...(options.dryRun !== undefined && { dryRun: options.dryRun }),
    };
  }

  #problems(config: PersonalityConfig): RuntimeProblem[] {
    const tools = this.registry.list();
    const plugins = this.plugins.list().map(({ id }) => id);
    const known = this.#checked.get(config);
    if (known !== undefined && sameItems(known.tools, tools) && sameItems(known.plugins, plugins)) {
      return known.problems;
    }
    const last = this.#personalities.partsOf(config).at(-1) ?? config;
    const file = personalityConfigPath(this.#parts.options.home, last.id);
    const problems = findProblems(config, {
      file,
      tools,
      plugins,
      servers: this.mcp?.status().map(({ server }) => server) ?? [],
    });
    this.#checked.set(config, { tools, plugins, problems });
    return problems;
  }

  /** Why each tool that is held back is. */
  #heldBack(config: PersonalityConfig): Map<string, string> {
    const held = this.#problems(config).filter(({ heldBack }) => heldBack);
    return new Map(held.map(({ tool, message }) => [tool, message]));
  }

  #toolNames(config: PersonalityConfig): string[] | undefined {
    return expandToolset(config.toolset, this.registry.list()).names;
  }

  #scopedStorage(config: PersonalityConfig): Storage {
    let scoped = this.#scoped.get(config);
    if (scoped === undefined) {
      const { read, write, deny } = this.#personalities.reachOf(config);
      scoped = new ScopedStorage(this.#storage, {
        read,
        write,
        deny: [...this.#parts.denyPaths, ...deny],
      });
      this.#scoped.set(config, scoped);
    }
    return scoped;
  }
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function networkOf({ safety }: PersonalityConfig) {
  return safety?.network === undefined ? {} : { networkPolicy: safety.network };
}

function isMcpName(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('mcp__');
}

/** Rejects when the signal fires first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new DOMException('the turn was aborted', 'AbortError'));
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A host that fails harms no call. */
function tell(host: TurnHost | undefined, refusal: ToolCallResult): void {
  try {
    host?.onResult?.(refusal);
  } catch {
    // It is told; it has no say.
  }
}

/** A controller that a session's signal aborts, until it is unlinked: the signal outlives many batches. */
function linkedController(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return { controller, unlink: () => signal?.removeEventListener('abort', abort) };
}

function hostEnvironment(): Readonly<Record<string, string | undefined>> {
  // biome-ignore lint/style/noProcessEnv: the composition root is where the host's environment comes in
  return process.env;
}

/** @throws `TOOL_INVALID` with every mistake on a line of its own */
function assertDeclarations(tools: readonly AnyTool[]): void {
  const mistakes = tools.flatMap((tool) =>
    validateDeclaration(tool.capabilities).map(
      ({ capability, message }) => `${tool.name}: ${capability}: ${message}`,
    ),
  );
  if (mistakes.length > 0) throw new EthosError('TOOL_INVALID', mistakes.join('\n'));
}

/** Those of the keys that have a value. */
function pick<T extends object, K extends keyof T>(source: T, keys: readonly K[]): Pick<T, K> {
  const picked = keys.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]]));
  return Object.fromEntries(picked);
}

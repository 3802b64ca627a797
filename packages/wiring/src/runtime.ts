import { randomUUID } from 'node:crypto';
import {
  type CallHooks,
  type CapabilityBackends,
  DefaultToolRegistry,
  DefaultToolResultReducerRegistry,
  DefaultToolSession,
  recordCall,
  SessionLedger,
  SessionLedgers,
  sessionRef,
  supervisorProblem,
  type ToolSession,
  type ToolSessionParts,
  tellError,
} from '@ethosagent/core';
import { createPluginHost, type PluginHost } from '@ethosagent/plugin-sdk';
import {
  callListener,
  causeOfAbort,
  errorText,
  expandToolset,
  SessionReads,
  toolFilters,
} from '@ethosagent/policy';
import { ScopedStorage } from '@ethosagent/storage-fs';
import type {
  AnyTool,
  AuditSink,
  FailureCause,
  MemoryProvider,
  PersonalityConfig,
  SessionStore,
  Storage,
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  ToolFilterOpts,
} from '@ethosagent/types';
import { errorCodeOf } from '@ethosagent/types';
import { linkController, unlessAborted } from './abort.js';
import { assertDeclarations } from './assert-declarations.js';
import { assertSession } from './assert-session.js';
import { createBatchContext, networkOf } from './batch-context.js';
import { checkSchema } from './json-schema/check-schema.js';
import { hostVariables, mcpProblems, openMcp, type RuntimeMcp, tokenStore } from './mcp.js';
import { PersonalityConfigs } from './personality-configs.js';
import { personalityConfigPath } from './personality-file.js';
import { PersonalityProblems } from './personality-problems.js';
import type { PersonalityStore } from './personality-store.js';
import { heldBack, leftOut, malformed, refuseAll } from './refusals.js';
import type {
  ExecuteOptions,
  ExecuteResult,
  SessionOptions,
  ToolReach,
  ToolRuntime,
  ToolRuntimeOptions,
} from './runtime-api.js';
import { createBackends } from './runtime-backends.js';
import type { RuntimeProblem } from './runtime-problem.js';
import { findSandboxProblems } from './sandbox-problems.js';
import { findSecretProblems } from './secret-problems.js';
import { ServedMcp } from './served-mcp.js';
import type { OpenStores } from './stores/open-stores.js';
import type { OpenedResources } from './stores/opened-resources.js';
import type { PickedTools } from './tools-by-name.js';
import { writableFileProblems } from './writable-files.js';

/** What a runtime is put together from. */
export interface RuntimeParts {
  options: ToolRuntimeOptions;
  picked: PickedTools;
  cwd: string;
  personalities: PersonalityStore;
  stores: OpenStores;
  /** Whether the secrets are those of the home. */
  hasOwnSecrets: boolean;
  audit: AuditSink;
  auditProblems: readonly string[];
  denyPaths: string[];
  /** What `close` closes. */
  opened: OpenedResources;
}

/** Holds the tools to the personality of each batch, as its file says by then. */
export class Runtime implements ToolRuntime {
  readonly registry: DefaultToolRegistry;
  readonly plugins: PluginHost;
  readonly memory: MemoryProvider;
  readonly sessions: SessionStore;
  mcp?: RuntimeMcp;
  readonly #parts: RuntimeParts;
  readonly #backends: CapabilityBackends;
  readonly #problems: PersonalityProblems;
  readonly #sessionId: string;
  readonly #scoped = new WeakMap<PersonalityConfig, Storage>();
  readonly #ledgers: SessionLedgers;
  /** Of the runtime's own session, which nobody else could name. */
  #ownLedger: SessionLedger;
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
    this.memory = parts.stores.memory;
    this.sessions = parts.stores.sessions;
    this.#personalityId = options.personality;
    this.#sessionId = options.sessionId ?? randomUUID();
    this.#ledgers = new SessionLedgers(parts.stores.sessions);
    this.#ownLedger = new SessionLedger(undefined, this.#sessionId);
    this.#personalities = new PersonalityConfigs({
      home: options.home,
      store: parts.personalities,
      tools: () => this.registry.list(),
      endServices: (personalityId) => this.registry.endServices({ personalityId }),
    });
    this.#backends = createBackends({ ...parts, personalities: this.#personalities });
    this.registry = new DefaultToolRegistry(this.#backends, this.#reducers, {
      checkSchema,
      auditArguments: options.auditArguments === true,
      ...options.limits,
      ...hooksOf(options),
    });
    this.plugins = createPluginHost({ registry: this.registry, reducers: this.#reducers });
    this.#problems = new PersonalityProblems({
      home: options.home,
      registry: this.registry,
      plugins: this.plugins,
      personalities: this.#personalities,
      mcp: () => this.mcp,
    });
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
    const held = this.#problems.heldBack(config);
    return this.registry
      .toDefinitions(this.#toolNames(config), this.#filters(config))
      .filter(({ name }) => !held.has(name));
  }

  session(id: string, options: SessionOptions = {}): ToolSession {
    assertSession(id, options);
    const {
      personality,
      approve = this.#parts.options.approve,
      identity = {},
      limits = {},
    } = options;
    return this.#openSession(id, { personality, approve, identity, limits });
  }

  async execute(
    calls: readonly ToolCall[],
    options: ExecuteOptions = {},
  ): Promise<ExecuteResult[]> {
    if (options.protections === 'none') return this.#execute(calls, options);
    const { personality } = options;
    const session = this.#openSession(options.sessionId ?? this.#sessionId, {
      personality,
      approve: this.#parts.options.approve,
      identity: options,
      limits: {},
    });
    const { host } = options;
    const results = await session.run(
      calls,
      { ...(host !== undefined && { host }) },
      (admitted, joined) => this.#execute(admitted, { ...options, host: joined }),
    );
    return results.map(({ text: _, images: __, durationMs: ___, ...result }) => result);
  }

  #openSession(
    id: string,
    options: Pick<ToolSessionParts, 'personality' | 'approve' | 'identity' | 'limits'>,
  ): DefaultToolSession {
    const { identity } = options;
    const isOwn = id === this.#sessionId && this.#parts.options.sessionId === undefined;
    return new DefaultToolSession({
      ...options,
      id,
      tools: this,
      activePersonality: () => this.#personalityId,
      ledger: isOwn ? this.#ownLedger : this.#ledgers.ofSession(id, identity),
      ownerLedger: (personalityId) =>
        this.#ledgers.ofOwner(personalityId, sessionRef(id, personalityId, identity)),
      now: this.#parts.options.limits?.now ?? Date.now,
    });
  }

  async #execute(calls: readonly ToolCall[], options: ExecuteOptions): Promise<ToolCallResult[]> {
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
      const { abortSignal } = options;
      const stopped = abortSignal?.aborted ? causeOfAbort(abortSignal.reason) : undefined;
      const cause = errorCodeOf(error) ?? stopped ?? 'CONFIG_INVALID';
      return this.#refuseAll(batch, error, { cause, options });
    }
    // After the wait: what begins now would run on stores that are closed.
    if (this.#closing !== undefined)
      // Its log is closed too.
      return refuseAll(batch, 'the runtime is closed', 'CALL_ABORTED');
    const held = this.#problems.heldBack(config);
    const refusals = batch.map(
      (call, index) =>
        malformed(call, index) ??
        leftOut(call, options.tools) ??
        heldBack(call, held.get(call.name), 'CONFIG_INVALID') ??
        heldBack(call, this.#whyServerHasNot(call.name, config.id), 'TOOL_UNAVAILABLE'),
    );
    const told = refusals.map(
      (refusal, index) => refusal && this.#record(refusal, batch[index], options),
    );
    for (const refusal of told) {
      if (refusal !== undefined) callListener(() => options.host?.onResult?.(refusal));
    }
    const admitted = batch.filter((_, index) => refusals[index] === undefined);
    const { controller, unlink } = linkController(options.abortSignal);
    const running = this.registry.executeParallel(
      admitted,
      createBatchContext(
        {
          config,
          cwd: this.#parts.cwd,
          sessionId: this.#sessionId,
          storage: this.#scopedStorage(config),
          reads: this.#reads,
          abortSignal: controller.signal,
        },
        options,
      ),
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
    return told.flatMap((refusal) => refusal ?? answered.next().value ?? []);
  }

  async switchPersonality(id: string): Promise<void> {
    await this.#personalities.get(id);
    this.#personalityId = id;
  }

  async problems(): Promise<RuntimeProblem[]> {
    const config = await this.#ready(this.#personalityId);
    const { home } = this.#parts.options;
    const ofServers = this.mcp === undefined ? [] : mcpProblems(this.mcp, home, config.id);
    const ofStores = await this.#parts.stores.problems();
    const ofProcesses = supervisorProblem();
    const ofSandbox = await findSandboxProblems(config, {
      file: personalityConfigPath(
        home,
        this.#personalities.partsOf(config).at(-1)?.id ?? config.id,
      ),
      tools: this.registry.list(),
      backends: this.#backends,
    });
    const ids = this.#personalities.partsOf(config).map(({ id }) => id);
    const ofSecrets = this.#parts.hasOwnSecrets
      ? await findSecretProblems(home, config, this.registry.list())
      : [];
    return [
      ...this.#problems.of(config),
      ...writableFileProblems(home, ids),
      ...ofSandbox,
      ...ofSecrets,
      ...ofServers,
      ...ofStores.map(({ store, message }) => ({
        file: '',
        key: store,
        tool: '',
        message: `${store}: ${message}`,
        heldBack: false,
      })),
      ...this.#parts.auditProblems.map((message) => ({
        file: '',
        key: 'audit',
        tool: '',
        message,
        heldBack: false,
      })),
      ...(ofProcesses === undefined
        ? []
        : [{ file: '', key: 'process', tool: '', message: ofProcesses, heldBack: false }]),
    ];
  }

  async reach(): Promise<ToolReach[]> {
    const config = await this.#ready(this.#personalityId);
    const offered = new Set((await this.definitions()).map(({ name }) => name));
    const ctx = {
      sessionId: this.#sessionId,
      personalityId: config.id,
      ...networkOf(config),
    };
    return this.registry.list().map(({ name, description, unconfined }) => ({
      tool: name,
      description,
      offered: offered.has(name),
      grant: this.registry.describe(name, ctx) ?? {},
      ...(unconfined === true && { unconfined }),
    }));
  }

  async endSession(sessionId: string = this.#sessionId): Promise<void> {
    this.#reads.forget(sessionId);
    if (sessionId === this.#sessionId) this.#ownLedger = new SessionLedger(undefined, sessionId);
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
      await this.#parts.opened.close();
    }
  }

  #openMcp(mcp: NonNullable<ToolRuntimeOptions['mcp']>): Promise<RuntimeMcp> {
    const { options, cwd, stores } = this.#parts;
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
      pins: stores.keyValue('mcp', 'mcp:pins'),
      tokens: tokenStore(options.home, stores.secrets),
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

  /** Why a tool of an MCP server is not there to be called. */
  #whyServerHasNot(name: string, personalityId: string): string | undefined {
    if (!isMcpName(name) || this.registry.get(name) !== undefined) return undefined;
    return this.mcp?.whyMissing?.(name, personalityId);
  }

  /** Refuses a batch for what was thrown before a registry had it. */
  #refuseAll(
    calls: readonly ToolCall[],
    error: unknown,
    { cause, options }: { cause: FailureCause; options: ExecuteOptions },
  ): ToolCallResult[] {
    const refused = refuseAll(calls, errorText(error), cause).map((answer, index) =>
      this.#record(answer, calls[index], options),
    );
    const { onError } = this.#parts.options;
    for (const { toolCallId, name: toolName, result } of refused) {
      if (onError === undefined || result.ok) continue;
      const { code } = result;
      const sessionId = options.sessionId ?? this.#sessionId;
      tellError({ onError }, { toolCallId, toolName, sessionId, code, cause, error });
    }
    return refused;
  }

  /** Writes down a call that no registry had. */
  #record(
    answer: ToolCallResult,
    call: ToolCall | undefined,
    options: ExecuteOptions,
  ): ToolCallResult {
    const { audit, options: own } = this.#parts;
    if (audit.call === undefined || options.host?.checksOnly !== undefined) return answer;
    const { agentId, userScopeId, teamId } = options;
    const { args }: Partial<ToolCall> = Object(call);
    const record = {
      time: new Date((own.limits?.now ?? Date.now)()).toISOString(),
      sessionId: options.sessionId ?? this.#sessionId,
      personalityId: options.personality ?? this.#personalityId,
      ...(agentId !== undefined && { agentId }),
      ...(userScopeId !== undefined && { userScopeId }),
      ...(teamId !== undefined && { teamId }),
      toolName: String(answer.name ?? ''),
      toolCallId: String(answer.toolCallId ?? ''),
      args,
      gate: 'runtime',
    };
    const result = recordCall(audit, record, {
      result: answer.result,
      facts: { ran: false, durationMs: 0 },
      withArgs: own.auditArguments === true,
    });
    return { ...answer, result };
  }

  #toolNames(config: PersonalityConfig): string[] | undefined {
    return expandToolset(config.toolset, this.registry.list()).names;
  }

  #scopedStorage(config: PersonalityConfig): Storage {
    let scoped = this.#scoped.get(config);
    if (scoped === undefined) {
      const { read, write, deny, leads } = this.#personalities.reachOf(config);
      scoped = new ScopedStorage(this.#parts.stores.storage, {
        read,
        write,
        leads,
        deny: [...this.#parts.denyPaths, ...deny],
      });
      this.#scoped.set(config, scoped);
    }
    return scoped;
  }
}

function isMcpName(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('mcp__');
}

function hooksOf({ beforeCall, afterCall, onError, onAccess }: CallHooks): CallHooks {
  return {
    ...(beforeCall !== undefined && { beforeCall }),
    ...(afterCall !== undefined && { afterCall }),
    ...(onError !== undefined && { onError }),
    ...(onAccess !== undefined && { onAccess }),
  };
}

import { randomUUID } from 'node:crypto';
import {
  type CallHooks,
  type CapabilityBackends,
  DefaultToolRegistry,
  DefaultToolResultReducerRegistry,
  DefaultToolSession,
  type PolicyPlaces,
  type ResolvedGrant,
  recordCall,
  SessionLedger,
  SessionLedgers,
  sessionRef,
  supervisorProblem,
  type ToolSession,
  type ToolSessionParts,
  type TurnHost,
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
import { EthosError, errorCodeOf } from '@ethosagent/types';
import { linkController, unlessAborted } from './abort.js';
import { assertDeclarations } from './assert-declarations.js';
import { assertSession, assertSessionId } from './assert-session.js';
import { createBatchContext, networkOf } from './batch-context.js';
import { checkSchema } from './json-schema/check-schema.js';
import type { LockChange } from './lock/lock-change.js';
import { LockGuard } from './lock/lock-guard.js';
import type { OpenedLock } from './lock/open-lock.js';
import type { ReachLock } from './lock/reach-lock.js';
import type { RuntimeLockParts } from './lock/runtime-lock.js';
import type { GivenTool } from './lock/take-lock.js';
import {
  hostVariables,
  type McpServerIdentity,
  mcpProblems,
  openMcp,
  type RuntimeMcp,
  tokenStore,
} from './mcp.js';
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
  /** What personalities are held to. */
  lock: OpenedLock | undefined;
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
  readonly #lock: LockGuard | undefined;
  #personalityId: string;
  #served: ServedMcp | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: RuntimeParts) {
    const { options } = parts;
    this.#parts = parts;
    this.memory = parts.stores.memory;
    this.#personalityId = options.personality;
    this.#sessionId = options.sessionId ?? randomUUID();
    this.#ledgers = SessionLedgers.of(parts.stores.sessions);
    this.sessions = this.#ledgers.sessions();
    this.#ownLedger = new SessionLedger(undefined, this.#sessionId);
    this.#personalities = new PersonalityConfigs({
      home: options.home,
      store: parts.personalities,
      tools: () => this.registry.list(),
      endServices: (personalityId) => this.registry.endServices({ personalityId }),
    });
    this.#lock =
      parts.lock &&
      new LockGuard({
        ...parts.lock,
        ...this.#lockParts,
        given: (config) => this.#givenNow(config),
        tools: () => this.registry.list(),
        servers: () => this.#serverIdentities(),
      });
    this.#backends = createBackends({
      ...parts,
      personalities: this.#personalities,
      admits: (config) => this.#isAdmitted(config),
    });
    this.registry = new DefaultToolRegistry(this.#backends, this.#reducers, {
      checkSchema,
      auditArguments: options.auditArguments === true,
      auditResults: options.auditResults === true,
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
      if (this.#lock !== undefined) await this.#ready(this.#personalityId);
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

  async policyPlaces(id: string = this.#personalityId): Promise<PolicyPlaces> {
    return this.#personalities.placesOf(await this.#personalities.get(id));
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
    if (options.protections === 'none') return this.#executeTimed(calls, options);
    const { personality, sessionId } = options;
    try {
      if (sessionId !== undefined) assertSessionId(sessionId);
    } catch (error) {
      const batch: readonly ToolCall[] = Array.isArray(calls) ? Array.from(calls) : [];
      const refused = refuseAll(batch, errorText(error), 'CONFIG_INVALID');
      return refused.map((result) => ({ ...result, durationMs: 0 }));
    }
    const session = this.#openSession(sessionId ?? this.#sessionId, {
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
    return results.map(({ text: _, images: __, ...result }) => result);
  }

  async #executeTimed(
    calls: readonly ToolCall[],
    options: ExecuteOptions,
  ): Promise<ExecuteResult[]> {
    const { host } = options;
    const durations = new Map<string, number>();
    const onResult: TurnHost['onResult'] = (result, facts) => {
      if (facts?.ran === true) durations.set(result.toolCallId, facts.durationMs);
      host?.onResult?.(result, facts);
    };
    // What the host's object says otherwise stays as it is.
    const noting: TurnHost = Object.create(host ?? null, { onResult: { value: onResult } });
    const results = await this.#execute(calls, { ...options, host: noting });
    return results.map((result) => ({
      ...result,
      durationMs: durations.get(result.toolCallId) ?? 0,
    }));
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
      files: this.#ledgers.files,
      now: this.#parts.options.limits?.now ?? Date.now,
    });
  }

  async #execute(calls: readonly ToolCall[], options: ExecuteOptions): Promise<ToolCallResult[]> {
    if (!Array.isArray(calls)) return [];
    // The caller may go on to change its array.
    const batch: readonly ToolCall[] = Array.from(calls);
    let config: PersonalityConfig;
    let storage: Storage;
    try {
      const id = options.personality ?? this.#personalityId;
      const asksServer = batch.some((call) => isMcpName(Object(call).name));
      config = await (asksServer
        ? unlessAborted(this.#ready(id), options.abortSignal)
        : this.#admitted(id));
      // A tool may have come meanwhile.
      this.#lock?.checkNow(this.#personalities.partsOf(config));
      // A storage of the host's own may throw.
      storage = this.#scopedStorage(config);
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
          storage,
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
    await this.#admitted(id);
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

  async reach(personality: string = this.#personalityId): Promise<ToolReach[]> {
    const config = await this.#ready(personality);
    const offered = new Set((await this.definitions(personality)).map(({ name }) => name));
    const given = new Set(this.#given(config).map(({ tool }) => tool.name));
    return this.registry.list().map(({ name, description, unconfined }) => ({
      tool: name,
      description,
      offered: offered.has(name),
      given: given.has(name),
      grant: this.#grantOf(name, config),
      ...(unconfined === true && { unconfined }),
    }));
  }

  async reachLock(personalities?: readonly string[]): Promise<ReachLock> {
    const { takeRuntimeLock } = await import('./lock/runtime-lock.js');
    return takeRuntimeLock(this.#lockParts, personalities);
  }

  async compareReach(lock: ReachLock, personalities?: readonly string[]): Promise<LockChange[]> {
    const { compareRuntimeReach } = await import('./lock/runtime-lock.js');
    return compareRuntimeReach(this.#lockParts, lock, personalities);
  }

  async untrustedFiles(): Promise<string[]> {
    return [...(await this.#ledgers.files.list())].sort();
  }

  clearUntrustedFiles(paths: readonly string[]): Promise<string[]> {
    return this.#ledgers.files.clear(paths);
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
    // Before its servers start, too: they get what the personality reaches.
    const config = await this.#admitted(id);
    if (this.#closing !== undefined || this.#served === undefined) return config;
    await this.#served.ready(config);
    await this.#lock?.check(this.#personalities.partsOf(config));
    return config;
  }

  /** The config of a personality that reaches no more than the lock says. @throws `REACH_WIDENED` */
  async #admitted(id: string): Promise<PersonalityConfig> {
    const config = await this.#personalities.get(id);
    if (this.#lock === undefined) return config;
    const parts = this.#personalities.partsOf(config);
    // Each counts as its file says now, also for what they allow together.
    await Promise.all(parts.map((part) => this.#personalities.get(part.id)));
    await this.#lock.check(parts);
    return config;
  }

  #isAdmitted(config: PersonalityConfig): boolean {
    const lock = this.#lock;
    return (
      lock === undefined || this.#personalities.partsOf(config).every((part) => lock.admits(part))
    );
  }

  /** The tools that a personality lets in, whether or not they are available now. */
  #given(config: PersonalityConfig): GivenTool[] {
    const held = this.#problems.heldBack(config);
    return this.registry
      .getAllowed(this.#toolNames(config), this.#filters(config))
      .filter(({ name }) => !held.has(name))
      .map((tool) => ({ tool, grant: this.#grantOf(tool.name, config) }));
  }

  /** The same, where the file still says it. @throws `CONFIG_INVALID` */
  #givenNow(config: PersonalityConfig): GivenTool[] {
    if (this.#personalities.at(config.id) === config) return this.#given(config);
    throw new EthosError(
      'CONFIG_INVALID',
      `the file of ${config.id} changed while it was compared with the lock; try again`,
    );
  }

  #grantOf(name: string, config: PersonalityConfig): ResolvedGrant {
    const ctx = { sessionId: this.#sessionId, personalityId: config.id, ...networkOf(config) };
    return this.registry.describe(name, ctx) ?? {};
  }

  get #lockParts(): RuntimeLockParts {
    const { options, cwd, personalities } = this.#parts;
    return {
      places: { home: options.home, cwd },
      environment: options.passEnv ?? [],
      mcp: () => this.mcp,
      ids: () => personalities.list(),
      ready: (id) => this.#ready(id),
      given: (config) => this.#given(config),
      tool: (name) => this.registry.get(name),
    };
  }

  async #serverIdentities(): Promise<readonly McpServerIdentity[]> {
    return (await this.mcp?.identities?.()) ?? [];
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
      withResult: own.auditResults === true,
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

import { randomUUID } from 'node:crypto';
import {
  assertDeclarations,
  type CallHooks,
  type CapabilityBackends,
  DefaultToolRegistry,
  DefaultToolResultReducerRegistry,
  type PolicyPlaces,
  resolveImageLimits,
  type ToolSession,
} from '@ethosagent/core';
import { createPluginHost, type PluginHost } from '@ethosagent/plugin-sdk';
import { errorText } from '@ethosagent/policy';
import type {
  AnyTool,
  AuditSink,
  ImageScaler,
  MemoryProvider,
  PersonalityConfig,
  SessionStore,
  ToolCall,
  ToolDefinition,
} from '@ethosagent/types';
import { Admission } from './admission.js';
import { assertExecute, assertSession } from './assert-session.js';
import { BatchRunner } from './batch-runner.js';
import { findRuntimeProblems } from './find-runtime-problems.js';
import { checkSchema } from './json-schema/check-schema.js';
import type { LockChange } from './lock/lock-change.js';
import type { OpenedLock } from './lock/open-lock.js';
import type { ReachLock } from './lock/reach-lock.js';
import type { RuntimeMcp } from './mcp.js';
import { McpServers } from './mcp-servers.js';
import { PersonalityConfigs } from './personality-configs.js';
import { PersonalityProblems } from './personality-problems.js';
import type { PersonalityStore } from './personality-store.js';
import { refuseAll } from './refusals.js';
import { RefusedCalls } from './refused-calls.js';
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
import { RuntimeSessions } from './runtime-sessions.js';
import type { OpenStores } from './stores/open-stores.js';
import type { OpenedResources } from './stores/opened-resources.js';
import type { PickedTools } from './tools-by-name.js';

/** The parts of a runtime. */
export interface RuntimeParts {
  options: ToolRuntimeOptions;
  picked: PickedTools;
  cwd: string;
  personalities: PersonalityStore;
  stores: OpenStores;
  hasOwnSecrets: boolean;
  audit: AuditSink;
  auditProblems: readonly string[];
  denyPaths: string[];
  imageScaler: ImageScaler | undefined;
  /** The lock that personalities must stay within. */
  lock: OpenedLock | undefined;
  opened: OpenedResources;
}

/** Holds the tools to the personality of each batch, as its file is at that time. */
export class Runtime implements ToolRuntime {
  readonly registry: DefaultToolRegistry;
  readonly plugins: PluginHost;
  readonly memory: MemoryProvider;
  readonly sessions: SessionStore;
  mcp?: RuntimeMcp;
  readonly #parts: RuntimeParts;
  readonly #backends: CapabilityBackends;
  readonly #reducers = new DefaultToolResultReducerRegistry();
  readonly #personalities: PersonalityConfigs;
  readonly #problems: PersonalityProblems;
  readonly #servers: McpServers;
  readonly #admission: Admission;
  readonly #batches: BatchRunner;
  readonly #sessions: RuntimeSessions;
  readonly #sessionId: string;
  #personalityId: string;
  #closing: Promise<void> | undefined;

  constructor(parts: RuntimeParts) {
    const { options, cwd, stores, audit, denyPaths, lock } = parts;
    const { home, limits, passEnv: environment = [] } = options;
    this.#parts = parts;
    this.#personalityId = options.personality;
    this.#sessionId = options.sessionId ?? randomUUID();
    const sessionId = this.#sessionId;
    const activePersonality = () => this.#personalityId;
    const isClosing = () => this.#closing !== undefined;

    this.#personalities = new PersonalityConfigs({
      home,
      store: parts.personalities,
      tools: () => this.registry.list(),
      problemsOf: (config) => this.#problems.inFile(config),
      endPersonality: (personalityId) => this.registry.endPersonality(personalityId),
    });
    const personalities = this.#personalities;
    this.#backends = createBackends({
      ...parts,
      personalities,
      admits: (config) => this.#admission.isAdmitted(config),
      offers: (config, tool) => this.#admission.offers(config, tool),
    });
    this.registry = new DefaultToolRegistry(this.#backends, this.#reducers, {
      checkSchema,
      auditArguments: options.auditArguments === true,
      auditResults: options.auditResults === true,
      ...limits,
      ...hooksOf(options),
    });
    const { registry } = this;
    this.plugins = createPluginHost({ registry, reducers: this.#reducers });

    const of = { home, cwd, sessionId, registry, personalities, activePersonality, isClosing };
    this.#servers = new McpServers({ ...of, stores });
    const servers = this.#servers;
    this.#problems = new PersonalityProblems({
      ...of,
      plugins: this.plugins,
      mcp: () => servers.bridge,
    });
    const problems = this.#problems;
    this.#admission = new Admission({
      ...of,
      problems,
      servers,
      lock,
      places: { home, cwd },
      environment,
      ids: () => parts.personalities.list(),
    });
    this.#batches = new BatchRunner({
      ...of,
      problems,
      servers,
      admission: this.#admission,
      refused: new RefusedCalls({ ...of, options, audit }),
      storage: stores.storage,
      denyPaths,
    });
    this.#sessions = new RuntimeSessions({
      ...of,
      store: stores.sessions,
      keyValue: stores.keyValue,
      tools: this,
      isNamed: options.sessionId !== undefined,
      now: limits?.now ?? Date.now,
    });
    this.memory = stores.memory;
    this.sessions = this.#sessions.store;
  }

  async start(): Promise<void> {
    const { reducers = [], plugins = [], mcp } = this.#parts.options;
    const { tools, reducers: own } = this.#parts.picked;
    try {
      // Registration refuses declarations of a wrong shape, so they are checked in detail only
      // after it.
      this.registry.registerAll(tools);
      assertDeclarations(tools);
      for (const reducer of reducers) this.#reducers.register(reducer);
      const taken = new Set(reducers.map(({ toolName }) => toolName));
      for (const reducer of own) if (!taken.has(reducer.toolName)) this.#reducers.register(reducer);
      for (const plugin of plugins) await this.plugins.load(plugin);
      if (mcp !== undefined) this.mcp = await this.#servers.open(mcp);
      if (this.#admission.hasLock) await this.#admission.ready(this.#personalityId);
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
    const config = await this.#admission.ready(personality);
    const held = this.#problems.heldBack(config);
    return this.registry
      .toDefinitions(this.#admission.toolNames(config), this.#admission.filters(config))
      .filter(({ name }) => !held.has(name));
  }

  session(id: string, options: SessionOptions = {}): ToolSession {
    assertSession(id, options);
    const {
      personality,
      approve = this.#parts.options.approve,
      identity = {},
      limits = {},
      images = this.#parts.options.images,
    } = options;
    return this.#sessions.open(id, {
      personality,
      approve,
      identity,
      limits,
      images: this.#images(images),
    });
  }

  /** @throws `CONFIG_INVALID` */
  #images(images: ToolRuntimeOptions['images']) {
    return { limits: resolveImageLimits(images), scaler: this.#parts.imageScaler };
  }

  async execute(
    calls: readonly ToolCall[],
    options: ExecuteOptions = {},
  ): Promise<ExecuteResult[]> {
    try {
      assertExecute(options);
    } catch (error) {
      const batch: readonly ToolCall[] = Array.isArray(calls) ? Array.from(calls) : [];
      const refused = refuseAll(batch, errorText(error), 'CONFIG_INVALID');
      return refused.map((result) => ({ ...result, durationMs: 0 }));
    }
    if (options.protections === 'none') return this.#batches.runTimed(calls, options);
    const { personality, sessionId } = options;
    const session = this.#sessions.open(sessionId ?? this.#sessionId, {
      personality,
      approve: this.#parts.options.approve,
      identity: options,
      limits: {},
      // A program gets the images unchanged.
      images: { limits: false },
    });
    const { host } = options;
    const results = await session.run(
      calls,
      { ...(host !== undefined && { host }) },
      (admitted, joined, own) => this.#batches.run(admitted, { ...options, ...own, host: joined }),
    );
    return results.map(({ text: _, images: __, ...result }) => result);
  }

  async switchPersonality(id: string): Promise<void> {
    await this.#admission.admit(id);
    this.#personalityId = id;
  }

  async problems(): Promise<RuntimeProblem[]> {
    const config = await this.#admission.ready(this.#personalityId);
    return findRuntimeProblems(config, {
      ...this.#parts,
      home: this.#parts.options.home,
      tools: this.registry.list(),
      backends: this.#backends,
      personalities: this.#personalities,
      problems: this.#problems,
      servers: this.#servers,
    });
  }

  async reach(personality: string = this.#personalityId): Promise<ToolReach[]> {
    const admission = this.#admission;
    const config = await admission.ready(personality);
    const offered = new Set((await this.definitions(personality)).map(({ name }) => name));
    const given = new Set(admission.given(config).map(({ tool }) => tool.name));
    return this.registry.list().map(({ name, description, unconfined }) => ({
      tool: name,
      description,
      offered: offered.has(name),
      given: given.has(name),
      grant: admission.grantOf(name, config),
      ...(unconfined === true && { unconfined }),
    }));
  }

  async reachLock(personalities?: readonly string[]): Promise<ReachLock> {
    const { takeRuntimeLock } = await import('./lock/runtime-lock.js');
    return takeRuntimeLock(this.#admission.lockParts, personalities);
  }

  async compareReach(lock: ReachLock, personalities?: readonly string[]): Promise<LockChange[]> {
    const { compareRuntimeReach } = await import('./lock/runtime-lock.js');
    return compareRuntimeReach(this.#admission.lockParts, lock, personalities);
  }

  async untrustedFiles(): Promise<string[]> {
    return [...(await this.#sessions.files.list())].sort();
  }

  clearUntrustedFiles(paths: readonly string[]): Promise<string[]> {
    return this.#sessions.files.clear(paths);
  }

  async endSession(sessionId: string = this.#sessionId): Promise<void> {
    this.#batches.forget(sessionId);
    this.#sessions.forget(sessionId);
    await this.registry.endSession(sessionId);
  }

  close(): Promise<void> {
    // In a later microtask: the abort may call a listener that closes the runtime too, and it must
    // get the same promise.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#batches.end();
    await this.#servers.close();
    await this.registry.endAllSessions();
    try {
      for (const { id } of this.plugins.list()) await this.plugins.unload(id);
    } finally {
      await this.#parts.opened.close();
    }
  }
}

function hooksOf({ beforeCall, afterCall, onError, onAccess }: CallHooks): CallHooks {
  return {
    ...(beforeCall !== undefined && { beforeCall }),
    ...(afterCall !== undefined && { afterCall }),
    ...(onError !== undefined && { onError }),
    ...(onAccess !== undefined && { onAccess }),
  };
}

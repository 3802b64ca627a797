import { teeAuditSink } from '@ethosagent/audit';
import {
  ABOVE_ZERO,
  assertNumbers,
  assertOptions,
  errorText,
  isString,
  mcpServerOf,
  type OptionValues,
  parametersForModels,
  unawaited,
  wrongOption,
} from '@ethosagent/policy';
import { BackgroundProcessTable, processesEnded } from '@ethosagent/process';
import {
  type AnyTool,
  type CapabilityValidationError,
  EthosError,
  type PersonalityConfig,
  type ServiceDeclaration,
  type ServiceHost,
  type ServiceOwner,
  type ServiceScope,
  type ToolBatchContext,
  type ToolCall,
  type ToolCallResult,
  type ToolDefinition,
  type ToolFilterOpts,
  type ToolRegistry,
  type ToolResultReducerRegistry,
  type TurnAttachment,
} from '@ethosagent/types';
import { assertBackends, type CapabilityBackends } from './backends.js';
import {
  type BatchOptions,
  DEFAULT_BATCH_OPTIONS,
  REGISTRY_OPTIONS,
  type ToolRegistryOptions,
} from './batch/batch.js';
import { runBatch } from './batch/run-batch.js';
import { notAvailable } from './batch/steps/step.js';
import type { CallHooks } from './call-hooks.js';
import type { ResolveContext } from './capabilities/capability-call.js';
import type { ResolvedGrant } from './capabilities/resolved-grant.js';
import { CapabilityPlan, needsBackends } from './capability-resolver.js';
import { serviceProblem, toolShapeProblem, validateRegistration } from './capability-validator.js';
import { isHeldTo, PERSONALITY_CHANGED } from './held-to-personality.js';
import { KnownTaints } from './known-taints.js';
import { copyPlain, deepFreeze } from './plain.js';
import { SessionMeters } from './quotas/session-meters.js';
import { SchemaGate } from './schema-gate.js';
import { ServicePlans } from './services/service-plans.js';
import { ServiceTable } from './services/service-table.js';
import { assertBatchContext } from './session/batch-options.js';
import {
  compileFilters,
  filteredOut,
  type RegisteredTool,
  sameFilters,
  type ToolFilters,
  unavailable,
} from './tool-gates.js';
import { SettingsPlan } from './tool-settings.js';
import type { TurnHost } from './turn-host.js';

/** The tools that pass some filters, at one state of the registry. */
interface Passing {
  readonly revision: number;
  readonly filters: ToolFilters;
  readonly entries: readonly RegisteredTool[];
  readonly definitions: readonly ToolDefinition[];
  /** Whether one of the tools has a check of its availability. */
  readonly isGated: boolean;
}

/** Holds tools, gates their calls, and gives each call the accessors that it declared. */
export class DefaultToolRegistry implements ToolRegistry, ServiceHost {
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #backends: CapabilityBackends | undefined;
  readonly #reducers: ToolResultReducerRegistry | undefined;
  readonly #options: BatchOptions;
  readonly #hooks: CallHooks;
  readonly #meters: SessionMeters;
  readonly #background: BackgroundProcessTable;
  readonly #services: ServiceTable;
  readonly #taints = new KnownTaints();
  readonly #servicePlans: ServicePlans;
  /** How often the set of tools was changed. */
  #revision = 0;
  #lastPassing: Passing | undefined;

  /**
   * A registry without tools.
   *
   * @param backends the backends of the accessors; without them, tools that declare any capability
   * are `not_available`
   * @param reducers shorten results before the model sees them
   * @param options quotas, caps and hooks of the host
   * @throws `CONFIG_INVALID` for an invalid option
   */
  constructor(
    backends?: CapabilityBackends,
    reducers?: ToolResultReducerRegistry,
    options: ToolRegistryOptions = {},
  ) {
    if (backends !== undefined) assertBackends(backends);
    assertOptions('options of DefaultToolRegistry', options, REGISTRY_OPTIONS);
    this.#reducers = reducers;
    this.#options = batchOptions(options);
    this.#hooks = callHooks(options);
    this.#meters = new SessionMeters(backends?.sessionQuotas);
    this.#backends = backends && withAccessHook(backends, this.#hooks);
    this.#background = new BackgroundProcessTable(this.#options.maxBackgroundProcesses);
    this.#services = new ServiceTable({
      backends: this.#backends,
      meters: this.#meters,
      taints: this.#taints,
      maxPerSession: this.#options.maxServices,
      maxCloseMs: this.#options.maxServiceCloseMs,
      now: this.#options.now,
    });
    this.#servicePlans = new ServicePlans(this.#backends ?? {});
  }

  register(tool: AnyTool, opts: { pluginId?: string } = {}): void {
    assertTool(tool);
    assertOwner(opts);
    const { name } = tool;
    const owner = this.#tools.get(name);
    if (owner !== undefined && owner.pluginId !== opts.pluginId) {
      throw new EthosError(
        'TOOL_NAME_TAKEN',
        `${name} belongs to ${owner.pluginId === undefined ? 'the host' : `plugin ${owner.pluginId}`}; choose another name`,
      );
    }
    const parameters = jsonSchemaOf(tool, 'schema');
    const output = tool.outputSchema && jsonSchemaOf(tool, 'outputSchema');
    const { checkSchema } = this.#options;
    const isPlain = tool.input === undefined && tool.validateSchema !== false;
    this.#revision++;
    this.#tools.set(name, {
      tool,
      name,
      pluginId: opts.pluginId,
      mcpServer: mcpServerOf(name),
      needsBackends: needsBackends(tool.capabilities),
      definition: Object.freeze({
        name,
        description: tool.description,
        // Calls are checked against the whole schema. The model gets the part that every provider
        // accepts.
        parameters: told(parameters),
        ...(output !== undefined && { outputSchema: output }),
        ...(tool.defer === true && { defer: true as const }),
        ...(tool.returnDirect === true && { returnDirect: true as const }),
      }),
      plan: new CapabilityPlan(name, tool.capabilities, this.#backends ?? {}),
      outputGate: output && checkSchema ? new SchemaGate(output, checkSchema) : undefined,
      schemaGate: isPlain && checkSchema ? new SchemaGate(parameters, checkSchema) : undefined,
      settings: tool.settings && new SettingsPlan(tool, tool.settings),
    });
  }

  registerAll(tools: readonly AnyTool[], opts: { pluginId?: string } = {}): void {
    for (const tool of tools) this.register(tool, opts);
  }

  unregister(name: string): boolean {
    this.#revision++;
    return this.#tools.delete(name);
  }

  unregisterPlugin(pluginId: string): number {
    this.#revision++;
    let removed = 0;
    for (const [name, entry] of this.#tools) {
      if (entry.pluginId === pluginId && this.#tools.delete(name)) removed++;
    }
    return removed;
  }

  get(name: string): AnyTool | undefined {
    return this.#tools.get(name)?.tool;
  }

  list(): AnyTool[] {
    return [...this.#tools.values()].map(({ tool }) => tool);
  }

  getAvailable(): AnyTool[] {
    return this.#select((entry) => unavailable(entry) === undefined);
  }

  getForToolset(toolset: string): AnyTool[] {
    return this.#select(({ tool }) => tool.toolset === toolset);
  }

  toDefinitions(allowedTools?: readonly string[], filterOpts?: ToolFilterOpts): ToolDefinition[] {
    const passing = this.#passing(compileFilters(allowedTools, filterOpts));
    if (!passing.isGated) return passing.definitions.slice();
    const open = passing.entries.filter((entry) => unavailable(entry) === undefined);
    return open.map(({ definition }) => definition);
  }

  /**
   * The tools that pass the filters of a batch, whether or not they are available now.
   *
   * @param allowedTools names of tools; every tool if absent
   * @param filterOpts the MCP servers and plugins that are allowed
   * @returns the tools, in the order of their registration
   */
  getAllowed(allowedTools?: readonly string[], filterOpts?: ToolFilterOpts): AnyTool[] {
    return this.#passing(compileFilters(allowedTools, filterOpts)).entries.map(({ tool }) => tool);
  }

  validateToolsForPersonality(personality: PersonalityConfig): CapabilityValidationError[] {
    return [...this.#tools.values()].flatMap(({ tool }) => validateRegistration(tool, personality));
  }

  /**
   * What a tool could reach in a call of this context, as data; `undefined` for an unknown tool.
   *
   * @param name of the tool
   * @param ctx the personality and the session
   * @returns hosts, paths, binaries and secrets that the call may reach
   */
  describe(name: string, ctx: ResolveContext): ResolvedGrant | undefined {
    return this.#tools.get(name)?.plan.describe(ctx);
  }

  // biome-ignore lint/complexity/useMaxParams: a documented signature
  executeParallel(
    calls: readonly ToolCall[],
    ctx: ToolBatchContext,
    allowedTools?: readonly string[],
    filterOpts?: ToolFilterOpts,
    turnAttachments?: readonly TurnAttachment[],
    host?: TurnHost,
  ): Promise<ToolCallResult[]> {
    const given = Array.isArray(calls) ? calls : [];
    let filters: ToolFilters;
    try {
      assertBatchContext(ctx);
      filters = compileFilters(allowedTools, filterOpts);
    } catch (error) {
      return Promise.resolve(given.map((call) => notBegun(call, error)));
    }
    return runBatch({
      calls: given,
      ctx,
      tools: this.#tools,
      filters,
      attachments: turnAttachments ?? [],
      host,
      backends: this.#backends,
      reducers: this.#reducers,
      options: this.#options,
      hooks: this.#hooks,
      meters: this.#meters,
      background: this.#background,
      services: this.#services,
      taints: this.#taints,
    });
  }

  /**
   * Opens a service for code that runs outside of a call: an MCP server, a browser. It reaches what
   * a tool with this declaration would reach in a call of the owner.
   *
   * @throws `TOOL_INVALID` for a malformed declaration, `TOO_MANY_SERVICES`, `AUDIT_FAILED`;
   * `CONFIG_INVALID` in a registry without backends
   */
  openService(declaration: ServiceDeclaration, owner: ServiceOwner): Promise<ServiceScope> {
    return unawaited(this.#openService(declaration, { ...owner }));
  }

  async #openService(declaration: ServiceDeclaration, owner: ServiceOwner): Promise<ServiceScope> {
    const wrong = serviceProblem(declaration);
    if (wrong !== undefined) throw new EthosError('TOOL_INVALID', wrong);
    const { name, capabilities } = declaration;
    if (this.#backends === undefined && needsBackends(capabilities)) {
      throw new EthosError(
        'CONFIG_INVALID',
        `${name}: capability backends are not configured; give them to new DefaultToolRegistry(…)`,
      );
    }
    const plan = this.#servicePlans.of(declaration);
    const { networkPolicy } = plan.policyOf(owner);
    return this.#services.open({ name, plan, owner, networkPolicy });
  }

  /**
   * Ends the services of a personality, or of all of them, and waits for their end.
   *
   * @param options `personalityId`: only the services of this personality
   */
  endServices({ personalityId }: { personalityId?: string } = {}): Promise<void> {
    return personalityId === undefined
      ? this.#services.endAll()
      : this.#services.endPersonality(personalityId);
  }

  /**
   * Ends everything that keeps the reach that a personality had when it began, and waits for its
   * end: the services and background processes of the personality, and of sub-agents under it.
   *
   * @param personalityId of the personality
   */
  async endPersonality(personalityId: string): Promise<void> {
    const reason = new DOMException(PERSONALITY_CHANGED, 'AbortError');
    await Promise.all([
      this.#services.endPersonality(personalityId),
      this.#background.endWhere((held) => isHeldTo(held, personalityId), reason),
    ]);
  }

  /**
   * Forgets what a session used up of its quotas in this process. Its running calls keep their
   * counts.
   *
   * @param sessionId of the session
   */
  forgetSession(sessionId: string): void {
    this.#meters.forget(sessionId);
  }

  /**
   * Ends everything that runs or is open in a session, waits for its end, and forgets the session.
   * If counts are shared, other processes forget it too.
   *
   * @param sessionId of the session
   * @throws what the store of shared counts throws
   */
  async endSession(sessionId: string): Promise<void> {
    await Promise.all([this.#background.end(sessionId), this.#services.endSession(sessionId)]);
    await this.#meters.forgetEverywhere(sessionId);
  }

  /**
   * Ends everything that runs or is open, with or without a session, and waits for its end, and for
   * the processes of calls that were aborted.
   */
  async endAllSessions(): Promise<void> {
    await Promise.all([this.#background.endAll(), this.#services.endAll(), processesEnded()]);
    await this.#meters.exchangeRest();
  }

  /**
   * The tools that pass the filters. They are kept, since a personality asks with the same filters
   * again.
   */
  #passing(filters: ToolFilters): Passing {
    const last = this.#lastPassing;
    if (last?.revision === this.#revision && sameFilters(last.filters, filters)) return last;
    const entries = [...this.#tools.values()].filter(
      (entry) => filteredOut(entry, filters) === undefined,
    );
    this.#lastPassing = {
      revision: this.#revision,
      filters,
      entries,
      definitions: entries.map(({ definition }) => definition),
      isGated: entries.some(({ tool }) => tool.isAvailable !== undefined),
    };
    return this.#lastPassing;
  }

  #select(keep: (entry: RegisteredTool) => boolean): AnyTool[] {
    return [...this.#tools.values()].filter(keep).map(({ tool }) => tool);
  }
}

/** @throws `CONFIG_INVALID` for an invalid limit */
function batchOptions(options: ToolRegistryOptions): BatchOptions {
  const {
    defaultTimeoutMs = DEFAULT_BATCH_OPTIONS.defaultTimeoutMs,
    maxConcurrency = DEFAULT_BATCH_OPTIONS.maxConcurrency,
    maxBackgroundProcesses = DEFAULT_BATCH_OPTIONS.maxBackgroundProcesses,
    maxServices = DEFAULT_BATCH_OPTIONS.maxServices,
    maxServiceCloseMs = DEFAULT_BATCH_OPTIONS.maxServiceCloseMs,
    auditArguments = DEFAULT_BATCH_OPTIONS.auditArguments,
    auditResults = DEFAULT_BATCH_OPTIONS.auditResults,
    now = DEFAULT_BATCH_OPTIONS.now,
    checkSchema,
  } = options;
  const limits = {
    defaultTimeoutMs,
    maxConcurrency,
    maxBackgroundProcesses,
    maxServices,
    maxServiceCloseMs,
  };
  assertNumbers('', limits, ABOVE_ZERO);
  if (checkSchema !== undefined && typeof checkSchema !== 'function') {
    throw new EthosError('CONFIG_INVALID', 'checkSchema is not a function');
  }
  return {
    ...limits,
    auditArguments: auditArguments === true,
    auditResults: auditResults === true,
    now,
    checkSchema,
  };
}

/** @throws `CONFIG_INVALID` for a hook that is not a function */
function callHooks({ beforeCall, afterCall, onError, onAccess }: CallHooks): CallHooks {
  const hooks = { beforeCall, afterCall, onError, onAccess };
  const given = Object.entries(hooks).filter(([, hook]) => hook !== undefined);
  const isHook = ([name, hook]: [string, unknown]) =>
    name === 'beforeCall' && Array.isArray(hook)
      ? hook.every((one) => typeof one === 'function')
      : typeof hook === 'function';
  const wrong = given.find((hook) => !isHook(hook));
  if (wrong !== undefined) throw new EthosError('CONFIG_INVALID', `${wrong[0]} is not a function`);
  const ordered = Array.isArray(beforeCall) ? { beforeCall: [...beforeCall] } : {};
  return { ...Object.fromEntries(given), ...ordered };
}

/** Adds the host's `onAccess` to the sink of the backends. */
function withAccessHook(backends: CapabilityBackends, { onAccess }: CallHooks): CapabilityBackends {
  if (onAccess === undefined) return backends;
  const { audit } = backends;
  const told = teeAuditSink(...(audit === undefined ? [] : [audit]), { record: onAccess });
  // The prototype keeps all other properties of the host's object, including later changes.
  return Object.create(backends, { audit: { value: told, enumerable: true } });
}

/** A frozen copy, since everybody who asks gets the same object. */
function jsonSchemaOf(tool: AnyTool, key: 'schema' | 'outputSchema'): Record<string, unknown> {
  const copy = copyPlain(tool[key] ?? {});
  if (copy.ok && typeof copy.value === 'object' && copy.value !== null) {
    return Object.freeze({ ...Object(deepFreeze(copy.value)) });
  }
  const problem = copy.ok ? ' is not an object' : copy.problem;
  throw new EthosError(
    'TOOL_INVALID',
    key === 'schema'
      ? `${tool.name}: schema${problem}; give JSON Schema, or a Standard Schema as \`input\` of defineTool`
      : `${tool.name}: outputSchema${problem}; give JSON Schema`,
  );
}

function told(parameters: Record<string, unknown>): Record<string, unknown> {
  const form = parametersForModels(parameters);
  return form === parameters ? parameters : Object.freeze({ ...Object(deepFreeze(form)) });
}

const OWNER: Required<OptionValues<{ pluginId?: string }>> = {
  pluginId: [isString, 'the id of a plugin'],
};

/** A tool whose plugin is not understood would pass the filter of plugins. @throws `CONFIG_INVALID` */
function assertOwner(opts: { pluginId?: string }): void {
  assertOptions('register', opts, OWNER);
  const problem = wrongOption(opts, OWNER);
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', `register: ${problem}`);
}

/** The answer to a call of a batch whose context or filters are wrong. */
function notBegun(call: ToolCall, error: unknown): ToolCallResult {
  const { toolCallId, name }: ToolCall = Object(call);
  const text = `${name} did not run, since its host called it wrongly (${errorText(error)}); tell the user`;
  return { toolCallId, name, result: notAvailable(text, 'CONFIG_INVALID') };
}

function assertTool(tool: AnyTool): void {
  const wrong = toolShapeProblem(tool);
  if (wrong !== undefined) throw new EthosError('TOOL_INVALID', wrong);
}

import type { DefaultToolRegistry, ResolvedGrant } from '@ethosagent/core';
import { expandToolset, toolFilters } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig, type ToolFilterOpts } from '@ethosagent/types';
import { networkOf } from './batch-context.js';
import { LockGuard } from './lock/lock-guard.js';
import type { OpenedLock } from './lock/open-lock.js';
import type { LockPlaces } from './lock/portable-lock.js';
import type { RuntimeLockParts } from './lock/runtime-lock.js';
import type { GivenTool } from './lock/take-lock.js';
import type { McpServers } from './mcp-servers.js';
import type { PersonalityConfigs } from './personality-configs.js';
import type { PersonalityProblems } from './personality-problems.js';

/** The parts of a runtime that admission uses. */
export interface AdmissionParts {
  readonly registry: DefaultToolRegistry;
  readonly personalities: PersonalityConfigs;
  readonly problems: PersonalityProblems;
  readonly servers: McpServers;
  /** The session of calls that name none. */
  readonly sessionId: string;
  /** The lock that personalities must stay within. */
  readonly lock: OpenedLock | undefined;
  readonly places: LockPlaces;
  /** The names of the environment variables that child processes get. */
  readonly environment: readonly string[];
  /** The ids of the personalities of the home. */
  readonly ids: () => Promise<string[]>;
  /** Whether the runtime is closed or is being closed. */
  readonly isClosing: () => boolean;
}

/** Whether a personality may run as its file is now, and which tools it allows. */
export class Admission {
  readonly #parts: AdmissionParts;
  readonly #lock: LockGuard | undefined;

  constructor(parts: AdmissionParts) {
    const { lock, places, environment, registry, servers } = parts;
    this.#parts = parts;
    this.#lock =
      lock &&
      new LockGuard({
        ...lock,
        places,
        environment,
        given: (config) => this.#givenNow(config),
        tools: () => registry.list(),
        servers: () => servers.identities(),
      });
  }

  get hasLock(): boolean {
    return this.#lock !== undefined;
  }

  /**
   * The config of a personality, if it reaches no more than the lock allows. @throws
   * `CONFIG_INVALID`, `REACH_WIDENED`
   */
  async admit(id: string): Promise<PersonalityConfig> {
    const { personalities } = this.#parts;
    const config = await personalities.get(id);
    if (this.#lock === undefined) return config;
    const parts = personalities.partsOf(config);
    // The newest version of each file counts, also for what several personalities allow together.
    await Promise.all(parts.map((part) => personalities.get(part.id)));
    await this.#lock.check(parts);
    return config;
  }

  /**
   * As `admit`, after the personality's MCP servers have started, as far as they can. @throws as
   * `admit`
   */
  async ready(id: string): Promise<PersonalityConfig> {
    const { personalities, servers, isClosing } = this.#parts;
    // Checked before its servers start, since they get the reach of the personality.
    const config = await this.admit(id);
    if (isClosing() || servers.bridge === undefined) return config;
    await servers.ready(config);
    await this.#lock?.check(personalities.partsOf(config));
    return config;
  }

  /**
   * Checks again without waiting, since a tool may have been added meanwhile. @throws
   * `REACH_WIDENED`
   */
  assertStillAdmitted(config: PersonalityConfig): void {
    this.#lock?.checkNow(this.#parts.personalities.partsOf(config));
  }

  /** Whether a call that begins may reach anything. */
  isAdmitted(config: PersonalityConfig): boolean {
    const lock = this.#lock;
    return (
      lock === undefined ||
      this.#parts.personalities.partsOf(config).every((part) => lock.admits(part))
    );
  }

  /** The names of a personality's tools; `undefined` if it lists none and so allows all. */
  toolNames(config: PersonalityConfig): string[] | undefined {
    return expandToolset(config.toolset, this.#parts.registry.list()).names;
  }

  /** Whether a personality has a tool, as its file is now. */
  offers(config: PersonalityConfig, tool: string): boolean {
    return this.#parts.registry
      .getAllowed(this.toolNames(config), this.filters(config))
      .some(({ name }) => name === tool);
  }

  filters(config: PersonalityConfig): ToolFilterOpts {
    const { mcp_servers } = config;
    const filters = toolFilters(config);
    const { servers } = this.#parts;
    if (mcp_servers === undefined || servers.bridge === undefined) return filters;
    return { ...filters, allowedMcpServers: servers.namesOf(mcp_servers) };
  }

  /** The tools that a personality allows, whether or not they are available now. */
  given(config: PersonalityConfig): GivenTool[] {
    const held = this.#parts.problems.heldBack(config);
    return this.#parts.registry
      .getAllowed(this.toolNames(config), this.filters(config))
      .filter(({ name }) => !held.has(name))
      .map((tool) => ({ tool, grant: this.grantOf(tool.name, config) }));
  }

  grantOf(name: string, config: PersonalityConfig): ResolvedGrant {
    const { registry, sessionId } = this.#parts;
    const ctx = { sessionId, personalityId: config.id, ...networkOf(config) };
    return registry.describe(name, ctx) ?? {};
  }

  /** The state from which the runtime takes its locks. */
  get lockParts(): RuntimeLockParts {
    const { places, environment, servers, ids, registry } = this.#parts;
    return {
      places,
      environment,
      mcp: () => servers.bridge,
      ids,
      ready: (id) => this.ready(id),
      given: (config) => this.given(config),
      tool: (name) => registry.get(name),
    };
  }

  /** As `given`, if the file still says the same. @throws `CONFIG_INVALID` */
  #givenNow(config: PersonalityConfig): GivenTool[] {
    if (this.#parts.personalities.at(config.id) === config) return this.given(config);
    throw new EthosError(
      'CONFIG_INVALID',
      `the file of ${config.id} changed while it was compared with the lock; try again`,
    );
  }
}

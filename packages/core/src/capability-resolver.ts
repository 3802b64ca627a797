import { declaredRef } from '@ethosagent/policy';
import { missingSandbox } from '@ethosagent/process';
import type { NetworkGuard } from '@ethosagent/safety-network';
import type {
  KeyValueStore,
  NetworkPolicy,
  ProcessPolicy,
  ScopedAttachments,
  ScopedDelegation,
  ScopedFetch,
  ScopedFs,
  ScopedMemory,
  ScopedProcess,
  ScopedSecretsResolver,
  ScopedServices,
  ScopedSessions,
  ServiceScope,
  Storage,
  StorageScope,
  ToolCapabilities,
  TurnAttachment,
} from '@ethosagent/types';
import type { AccessScope } from './access.js';
import type { CapabilityBackends } from './backends.js';
import { checkedKv } from './checked/checked-kv.js';
import { checkedStorage } from './checked/checked-storage.js';
import { FsGrant, GrantCache, NetworkGrant, type ResolvedGrant } from './grant.js';
import {
  type NetworkPolicySources,
  networkSources,
  personalityProcess,
  personalityQuotas,
  personalityReach,
} from './policy-sources.js';
import { type MemoryFacts, memoryScopes, sessionOwner } from './scoped/memory-scopes.js';
import { turnsOf } from './scoped/namespace-turns.js';
import { ScopedAttachmentsImpl } from './scoped/scoped-attachments.js';
import { ScopedBackgroundImpl, type ScopedBackgroundOptions } from './scoped/scoped-background.js';
import { ScopedFetchImpl } from './scoped/scoped-fetch.js';
import { defaultDenyPaths, ScopedFsImpl } from './scoped/scoped-fs.js';
import { scopedKv } from './scoped/scoped-kv.js';
import { ScopedMemoryImpl } from './scoped/scoped-memory.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped/scoped-process.js';
import { ScopedSecretsImpl } from './scoped/scoped-secrets.js';
import { ScopedSessionsImpl } from './scoped/scoped-sessions.js';
import { SecretBindings } from './secret-bindings.js';

/** What of a tool context decides on its accessors. */
export interface ResolveContext extends MemoryFacts {
  networkPolicy?: NetworkPolicy;
  /** Where processes work that are told no other directory. */
  workingDir?: string;
}

/** Where a call finds, and leaves, processes that outlive it. */
export type BackgroundSession = Pick<
  ScopedBackgroundOptions,
  'find' | 'open' | 'openScope' | 'now'
>;

/** The accessors of one call: those that were declared and have a backend, and no others. */
export interface ScopedAccessors {
  kvStore?: KeyValueStore;
  secretsResolver?: ScopedSecretsResolver;
  scopedFetch?: ScopedFetch;
  scopedFs?: ScopedFs;
  scopedProcess?: ScopedProcess;
  attachments?: ScopedAttachments;
  memory?: ScopedMemory;
  sessions?: ScopedSessions;
  services?: ScopedServices;
  delegation?: ScopedDelegation;
}

/** The accessors of a service. */
export type ServiceAccessors = Pick<
  ServiceScope,
  'kvStore' | 'secretsResolver' | 'scopedFetch' | 'scopedFs'
> & {
  scopedProcess?: ScopedProcessImpl;
  /** What its `scopedFetch` goes through. */
  guard?: NetworkGuard;
};

/** Milliseconds that what a service is answered may be silent. */
export const SERVICE_IDLE_MS = 300_000;

/** The accessors for one execution of a tool. Reach, hosts and namespaces are worked out here. */
export function resolveCapabilities(
  toolName: string,
  capabilities: ToolCapabilities,
  ctx: ResolveContext,
  backends: CapabilityBackends,
): ScopedAccessors {
  return new CapabilityPlan(toolName, capabilities, backends).bind(ctx);
}

/** Whether a declaration reaches outside, so that it can't run without backends. */
export function needsBackends(capabilities: ToolCapabilities): boolean {
  return Object.values(capabilities).some((declared) => declared !== undefined);
}

/** The id of the namespace that a tool's key-value store is. */
export function storageScopeId(
  scope: StorageScope,
  toolName: string,
  ctx: Pick<ResolveContext, 'sessionId' | 'personalityId'>,
): string {
  switch (scope) {
    case 'tool-private':
      return `tool:${toolName}`;
    case 'session':
      return `session:${ctx.sessionId}`;
    case 'personality':
      return `personality:${ctx.personalityId ?? ctx.sessionId}`;
  }
}

/**
 * The declaration of a tool, compiled: what depends on it alone is worked out when the tool is
 * registered, what depends on the policy when the policy is first seen, and a call pays for
 * objects that refer to both.
 */
export class CapabilityPlan {
  readonly #toolName: string;
  readonly #backends: CapabilityBackends;
  readonly #declared: ToolCapabilities;
  readonly #network: GrantCache<Parameters<NetworkGrant['isFor']>[0], NetworkGrant> | undefined;
  readonly #fs: GrantCache<Parameters<FsGrant['isFor']>[0], FsGrant> | undefined;
  readonly #secrets: ReadonlySet<string> | undefined;
  readonly #bindings: SecretBindings | undefined;
  readonly #binaries: ReadonlySet<string> | undefined;

  constructor(toolName: string, capabilities: ToolCapabilities, backends: CapabilityBackends) {
    // What was declared at registration is what holds, whatever the tool object says later.
    const declared = structuredClone(capabilities);
    const { network, fs_reach, secrets, process } = declared;
    this.#toolName = toolName;
    this.#backends = backends;
    this.#declared = declared;
    this.#network =
      network && new GrantCache((sources) => new NetworkGrant(network.allowedHosts, sources));
    this.#fs =
      fs_reach &&
      new GrantCache((reach) => {
        const deny = [...defaultDenyPaths(), ...(backends.denyPaths ?? [])];
        return new FsGrant(fs_reach, reach, deny);
      });
    this.#secrets = secrets && new Set(secrets.map(declaredRef));
    this.#bindings = secrets && new SecretBindings(secrets, network?.allowedHosts);
    this.#binaries = process && new Set(process.allowedBinaries);
  }

  /** Builds the accessors of one call. */
  bind(
    ctx: ResolveContext,
    scope?: AccessScope,
    turnAttachments: readonly TurnAttachment[] = [],
    background?: BackgroundSession,
  ): ScopedAccessors {
    const backends = this.#backends;
    const accessors: ScopedAccessors = {};
    const network = this.#network && this.#networkGrant(this.#network, ctx);
    const options = this.#bindOutside(accessors, ctx, scope, { isService: false, network });
    const allowed = this.#binaries;
    if (allowed !== undefined) {
      const processes = new ScopedProcessImpl(allowed, { ...options, scope });
      if (background !== undefined && scope !== undefined) {
        processes.background = new ScopedBackgroundImpl({
          ...background,
          allowed,
          personalityId: ctx.personalityId,
          launcher: (own) => new ScopedProcessImpl(allowed, { ...options, scope: own }),
          scope,
        });
      }
      accessors.scopedProcess = processes;
    }
    if (this.#declared.attachments !== undefined) {
      accessors.attachments = new ScopedAttachmentsImpl(turnAttachments, {
        mediaTypes: this.#declared.attachments.mediaTypes,
        store: backends.attachments,
        scope,
      });
    }
    const { memory, sessions } = this.#declared;
    if (memory !== undefined && backends.memory !== undefined) {
      const { access } = memory;
      accessors.memory = new ScopedMemoryImpl(backends.memory, memoryScopes(ctx), {
        access,
        scope,
      });
    }
    if (sessions !== undefined && backends.sessions !== undefined) {
      accessors.sessions = new ScopedSessionsImpl(backends.sessions, {
        owner: sessionOwner(ctx),
        sessionId: ctx.sessionId,
        scope,
      });
    }
    return accessors;
  }

  /**
   * Builds the accessors of a service. Its connections are its own, so that they can be closed.
   * @param onStarted told of every process
   */
  bindService(
    ctx: ResolveContext,
    scope: AccessScope,
    onStarted: NonNullable<ScopedProcessOptions['onStarted']>,
  ): ServiceAccessors {
    const accessors: ServiceAccessors = {};
    const { network: declared } = this.#declared;
    const network = declared && new NetworkGrant(declared.allowedHosts, this.#networkSources(ctx));
    const options = this.#bindOutside(accessors, ctx, scope, { isService: true, network });
    if (this.#binaries !== undefined) {
      const own = { ...options, scope, onStarted };
      accessors.scopedProcess = new ScopedProcessImpl(this.#binaries, own);
    }
    if (network !== undefined) accessors.guard = network.guard(this.#backends);
    return accessors;
  }

  /** Adds what calls and services have in common. Gives how their processes run. */
  #bindOutside(
    accessors: Pick<ScopedAccessors, 'kvStore' | 'secretsResolver' | 'scopedFetch' | 'scopedFs'>,
    ctx: ResolveContext,
    scope: AccessScope | undefined,
    { isService, network }: { isService: boolean; network: NetworkGrant | undefined },
  ): ScopedProcessOptions {
    const backends = this.#backends;
    if (this.#secrets !== undefined && backends.secretsBackend !== undefined) {
      accessors.secretsResolver = new ScopedSecretsImpl(this.#secrets, backends.secretsBackend, {
        scope,
        bindings: this.#bindings,
        hosts: network?.hosts,
      });
    }
    if (network !== undefined) {
      accessors.scopedFetch = new ScopedFetchImpl(network.hosts, {
        guard: network.guard(backends),
        scope,
        secrets: accessors.secretsResolver,
        idleTimeoutMs: isService ? SERVICE_IDLE_MS : undefined,
      });
    }
    const files = this.#fs?.get(personalityReach(backends, ctx.personalityId));
    if (files !== undefined && backends.storage !== undefined) {
      const storage = checkedStorage(backends.storage);
      const reach = files.reach(storage);
      const { read, write } = files;
      accessors.scopedFs = new ScopedFsImpl(storage, read, write, { reach, scope });
    }
    const { storage } = this.#declared;
    if (storage !== undefined && backends.kvStoreFactory !== undefined) {
      // A service has no end at which it would give a namespace back to the calls.
      const declared = isService ? { ...storage, concurrency: 'parallel' as const } : storage;
      accessors.kvStore = this.#store(declared, ctx, backends.kvStoreFactory, scope);
    }
    if (this.#binaries === undefined) return {};
    return {
      baseEnv: backends.processEnv,
      reach: files?.directories,
      workingDir: ctx.workingDir,
      policy: this.#processPolicy(ctx),
      network: network?.hosts.size ? network.guard(backends) : undefined,
    };
  }

  /**
   * Why processes can't run as the policy wants it, or `undefined`. Waits only where it wants a
   * sandbox.
   */
  missingSandbox(
    ctx: Pick<ResolveContext, 'personalityId'>,
  ): Promise<string | undefined> | undefined {
    if (this.#binaries === undefined) return undefined;
    const policy = this.#processPolicy(ctx);
    if (!policy?.sandbox || policy.sandbox === 'preferred') return undefined;
    return missingSandbox(policy, this.#backends.processEnv);
  }

  /** What a call under this policy may reach, as data. */
  describe(ctx: ResolveContext): ResolvedGrant {
    const { storage, attachments, memory, sessions, process, service, delegation } = this.#declared;
    const files = this.#fs?.get(personalityReach(this.#backends, ctx.personalityId));
    const quotas = needsBackends(this.#declared)
      ? personalityQuotas(this.#backends, ctx.personalityId)
      : undefined;
    const network = this.#network && this.#networkGrant(this.#network, ctx);
    return {
      ...(network && { network: network.describe() }),
      ...(this.#bindings && { secrets: this.#bindings.describe(network?.hosts ?? []) }),
      ...(storage && { storage: { scope: storage.scope } }),
      ...(files && { fs_reach: { read: [...files.read], write: [...files.write] } }),
      ...(process && { process: this.#describeProcess(process, ctx) }),
      ...(attachments && { attachments: { mediaTypes: attachments.mediaTypes ?? ['*/*'] } }),
      ...(memory && {
        memory: { access: memory.access, scopes: [...new Set(memoryScopes(ctx).values())] },
      }),
      ...(sessions && { sessions: { access: sessions.access, owner: sessionOwner(ctx) ?? null } }),
      ...(service && { service: { scope: service.scope } }),
      ...(delegation && { delegation: { background: delegation.background === true } }),
      ...(quotas && { quotas: structuredClone(quotas) }),
    };
  }

  get declaresBackground(): boolean {
    return this.#declared.process?.background === true;
  }

  get declaresService(): boolean {
    return this.#declared.service !== undefined;
  }

  get declaresDelegation(): boolean {
    return this.#declared.delegation !== undefined;
  }

  get declaresFiles(): boolean {
    return this.#fs !== undefined;
  }

  /**
   * The turn's storage, held to the declaration. A storage that can't be held is taken for what it
   * should be, the personality's reach, and goes to tools that declare no less.
   */
  narrowStorage(storage: Storage, ctx: ResolveContext): Storage | undefined {
    const files = this.#fs?.get(personalityReach(this.#backends, ctx.personalityId));
    if (storage.contained !== undefined) return files?.narrow(checkedStorage(storage));
    const declared = this.#declared.fs_reach;
    const isAll = declared?.read === 'from-personality' && declared.write === 'from-personality';
    return isAll ? checkedStorage(storage) : undefined;
  }

  #describeProcess(
    { allowedBinaries, background }: NonNullable<ToolCapabilities['process']>,
    ctx: ResolveContext,
  ): NonNullable<ResolvedGrant['process']> {
    const { sandbox, limits } = this.#processPolicy(ctx) ?? {};
    return {
      allowedBinaries: [...allowedBinaries],
      ...(sandbox && { sandbox: sandbox === 'preferred' ? sandbox : ('required' as const) }),
      ...(sandbox && limits && { limits: { ...limits } }),
      ...(background !== undefined && { background }),
    };
  }

  /** The personality's, and the sandbox that the tool asks for itself. */
  #processPolicy(ctx: Pick<ResolveContext, 'personalityId'>): ProcessPolicy | undefined {
    const policy = personalityProcess(this.#backends, ctx.personalityId);
    return this.#declared.process?.sandbox === 'required'
      ? { ...policy, sandbox: 'required' }
      : policy;
  }

  #networkGrant(
    cache: GrantCache<Parameters<NetworkGrant['isFor']>[0], NetworkGrant>,
    ctx: ResolveContext,
  ): NetworkGrant {
    return cache.get(this.#networkSources(ctx));
  }

  #networkSources(ctx: ResolveContext): NetworkPolicySources {
    return networkSources(this.#backends, ctx.personalityId, ctx.networkPolicy);
  }

  #store(
    declared: NonNullable<ToolCapabilities['storage']>,
    ctx: ResolveContext,
    factory: NonNullable<CapabilityBackends['kvStoreFactory']>,
    scope: AccessScope | undefined,
  ): KeyValueStore {
    const namespace = storageScopeId(declared.scope, this.#toolName, ctx);
    const { ttlSecondsDefault, concurrency } = declared;
    const turns = concurrency === 'parallel' ? undefined : turnsOf(factory);
    return scopedKv(checkedKv(factory, this.#toolName, namespace), {
      ttlSecondsDefault,
      scope,
      namespace,
      turns,
    });
  }
}

import type { NetworkGuard } from '@ethosagent/safety-network';
import type { ToolCapabilities } from '@ethosagent/types';
import type { AccessScope } from './access.js';
import type { CapabilityBackends } from './backends.js';
import type { CallNarrowing } from './call-narrowing.js';
import type { ExplainAccess } from './call-scope.js';
import type {
  Binding,
  BoundAccessors,
  Grants,
  PolicyCall,
  RegistryCall,
  ResolveContext,
  ScopedAccessors,
  ServiceCall,
} from './capabilities/capability-call.js';
import type { CapabilityKey, CapabilityPart } from './capabilities/capability-module.js';
import { CAPABILITY_MODULES } from './capabilities/index.js';
import type { ResolvedGrant } from './capabilities/resolved-grant.js';
import { PolicyAtOnce } from './personality-policy.js';
import { quotaOfRule } from './quotas/call-quotas.js';

export type { ResolveContext, ScopedAccessors };

/**
 * The accessors for one execution of a tool. Reach, hosts and namespaces are worked out here.
 *
 * @param toolName also the name of its key-value namespace
 * @param capabilities its declaration
 * @param ctx the personality and the call
 * @param backends the backends of the accessors
 * @returns an accessor for each declared capability; the others are absent
 */
// biome-ignore lint/complexity/useMaxParams: a documented signature
export function resolveCapabilities(
  toolName: string,
  capabilities: ToolCapabilities,
  ctx: ResolveContext,
  backends: CapabilityBackends,
): ScopedAccessors {
  const plan = new CapabilityPlan(toolName, capabilities, backends);
  return plan.bind({ ctx, policy: plan.policyOf(ctx) });
}

/**
 * Whether a tool with this declaration reaches anything outside. Then it can't run without
 * backends.
 *
 * @param capabilities the declaration of a tool
 */
export function needsBackends(capabilities: ToolCapabilities): boolean {
  return Object.values(capabilities).some((declared) => declared !== undefined);
}

/**
 * The capabilities whose reads are seen: each read is reported with its source, or reads what
 * belongs to the operator.
 */
const SEEN: ReadonlySet<string> = new Set<keyof ToolCapabilities>([
  'network',
  'fs_reach',
  'secrets',
  'storage',
]);

/** A call that gets its accessors. */
export interface BoundCall {
  ctx: ResolveContext;
  policy: PolicyAtOnce;
  scope?: AccessScope;
  narrowing?: CallNarrowing | undefined;
  /** Absent for accessors that are used by hand. */
  registry?: RegistryCall;
}

/**
 * The compiled declaration of a tool. What depends only on the declaration is worked out when the
 * tool is registered. What depends on the policy is worked out when that policy is first seen. A
 * call only creates objects that refer to both.
 */
export class CapabilityPlan {
  readonly #backends: CapabilityBackends;
  readonly #needsBackends: boolean;
  readonly #toolName: string;
  readonly #parts: readonly CapabilityPart[];
  readonly #byKey = new Map<string, CapabilityPart>();
  /** The capability that makes it impossible to narrow a call. */
  readonly unnarrowable: CapabilityKey | undefined;
  /** Whether `missing` may find anything. */
  readonly mayMiss: boolean;
  /** Whether everything that a call reads goes through accessors that report its source. */
  readonly isSeen: boolean;

  constructor(toolName: string, declared: ToolCapabilities, backends: CapabilityBackends) {
    // The declaration at registration holds, whatever the tool object says later.
    const capabilities = structuredClone(declared);
    const tool = { name: toolName, capabilities, backends };
    this.#backends = backends;
    this.#needsBackends = needsBackends(capabilities);
    this.#toolName = toolName;
    this.isSeen = Object.entries(capabilities).every(
      ([key, value]) => value === undefined || value === null || SEEN.has(key),
    );
    for (const module of CAPABILITY_MODULES) {
      const part = module.compile(tool);
      if (part !== undefined) this.#byKey.set(module.key satisfies CapabilityKey, part);
    }
    this.#parts = [...this.#byKey.values()];
    this.mayMiss = this.#parts.some(({ missing }) => missing !== undefined);
    this.unnarrowable = CAPABILITY_MODULES.find(
      ({ key, isNarrowable }) => !isNarrowable && this.#byKey.has(key),
    )?.key;
  }

  /** What the backends say of a call's personality now. */
  policyOf({ personalityId }: Pick<ResolveContext, 'personalityId'>): PolicyAtOnce {
    return new PolicyAtOnce(this.#backends, personalityId);
  }

  /** Builds the accessors of one call. */
  bind(call: BoundCall): BoundAccessors {
    const accessors: BoundAccessors = {};
    this.bindTo(accessors, call);
    return accessors;
  }

  /** Adds the accessors of one call to an object that has none yet. */
  bindTo(accessors: BoundAccessors, call: BoundCall): void {
    const { ctx, policy, scope, narrowing, registry } = call;
    // One object for all parts, without spreads: a spread for each part took longer than everything
    // else in a call.
    const grants = { network: undefined, files: undefined };
    const binding = { ctx, policy, narrowing, grants, scope, registry, accessors };
    this.#bind(binding);
  }

  #bind(binding: Binding): void {
    const { scope, grants } = binding;
    for (const part of this.#parts) part.grant?.(binding, grants);
    if (scope?.isExplained) scope.explainBy(this.#explain(binding, grants));
    for (const part of this.#parts) part.bind(binding);
  }

  /**
   * Builds the accessors of a service. It has connections of its own, so that they can be closed.
   */
  bindService({
    ctx,
    policy,
    scope,
    service,
  }: Omit<BoundCall, 'registry' | 'narrowing'> & { service: ServiceCall }): {
    accessors: BoundAccessors;
    /** The guard of its `scopedFetch`. */
    guard: NetworkGuard | undefined;
  } {
    const accessors: BoundAccessors = {};
    const grants: Grants = {};
    this.#bind({ ctx, policy, service, grants, scope, registry: undefined, accessors });
    return { accessors, guard: grants.network?.guard(this.#backends) };
  }

  /**
   * Why a capability can't be given as the policy requires, or `undefined`. Returns a promise only
   * if it has to look something up.
   */
  missing(call: PolicyCall): Promise<string | undefined> | undefined {
    for (const part of this.#parts) {
      const missing = part.missing?.(call);
      if (missing !== undefined) return missing;
    }
    return undefined;
  }

  /** What a call under this policy may reach, as data. */
  describe(
    ctx: ResolveContext,
    policy: PolicyAtOnce = this.policyOf(ctx),
    narrowing?: CallNarrowing,
  ): ResolvedGrant {
    const call = { ctx, policy, narrowing };
    const grants = this.#grants(call);
    const described: ResolvedGrant = {};
    for (const part of this.#parts) Object.assign(described, part.describe(call, grants));
    const quotas = this.#needsBackends ? policy.quotas : undefined;
    if (quotas !== undefined) described.quotas = structuredClone(quotas);
    return described;
  }

  #explain(call: PolicyCall, grants: Grants): ExplainAccess {
    return (access) => {
      const [key = ''] = access.capability.split('.', 1);
      const part = this.#byKey.get(key);
      if (part === undefined) return undefined;
      const tool = () => call.policy.placesOfTool(this.#toolName);
      const { declared, policy } = part.why(access, { ...call, grants, tool });
      const quota = quotaOfRule(access.reason);
      if (quota === undefined) return { declared, policy };
      return { declared, policy: call.policy.placesOf(`safety.quotas.${quota}`) };
    };
  }

  #grants(call: PolicyCall): Grants {
    const grants: Grants = {};
    for (const part of this.#parts) part.grant?.(call, grants);
    return grants;
  }
}

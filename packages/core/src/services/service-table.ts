import {
  CapabilityError,
  type NetworkPolicy,
  type ServiceOwner,
  type ServiceScope,
} from '@ethosagent/types';
import { recordAccess } from '../access.js';
import type { CapabilityBackends } from '../backends.js';
import type { CallScope } from '../call-scope.js';
import type { CapabilityPlan } from '../capability-resolver.js';
import { isHeldTo, PERSONALITY_CHANGED } from '../held-to-personality.js';
import type { KnownTaints } from '../known-taints.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import { CallQuotas } from '../quotas/call-quotas.js';
import type { SessionMeters } from '../quotas/session-meters.js';
import type { SecretRedactor } from '../results/redact.js';
import { Service } from './service.js';
import { currency } from './service-currency.js';
import { ServiceLife } from './service-life.js';
import { type SecretOwner, ServiceSecrets } from './service-secrets.js';
import { SessionOwners } from './session-owners.js';

/**
 * How many services of one session may be open at the same time, unless an option sets another
 * limit.
 */
export const DEFAULT_MAX_SERVICES = 8;

/** The same limit for the services of one personality that belong to no session. */
const MAX_WITHOUT_SESSION = 64;

export interface ServiceTableOptions {
  backends: CapabilityBackends | undefined;
  meters: SessionMeters;
  taints: KnownTaints;
  maxPerSession: number;
  /** How many milliseconds a service may take to close. */
  maxCloseMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What is to be opened. */
export interface ServiceRequest {
  /** The name in the audit. */
  name: string;
  /** The compiled declaration of the service. */
  plan: CapabilityPlan;
  owner: ServiceOwner;
  /** The policy of the turn, or of the personality outside a turn. */
  networkPolicy: NetworkPolicy | undefined;
  opener?: CallScope;
}

/** The open services of all sessions. */
export class ServiceTable {
  readonly owners = new SessionOwners();
  readonly #options: ServiceTableOptions;
  readonly #services = new Set<Service>();
  readonly #secrets = new ServiceSecrets();

  constructor(options: ServiceTableOptions) {
    this.#options = options;
  }

  /** @throws `TOO_MANY_SERVICES`; `CALL_ENDED` if the call that opens the service has ended */
  open({ name, plan, owner, networkPolicy, opener }: ServiceRequest): Promise<ServiceScope> {
    const { backends, now, taints } = this.#options;
    const { personalityId, workingDir } = owner;
    const id = `service-${crypto.randomUUID()}`;
    // A service that belongs to no session gets a session id of its own, so that it shares no
    // namespace and no meter.
    const sessionId = owner.sessionId ?? id;
    const secrets = this.#secrets.open(owner);
    const journal = {
      sessionId,
      personalityId,
      audit: backends?.audit,
      now,
      secrets: () => secrets,
    };
    // A service outlives what its session knew when it was opened, so all that it writes counts as
    // untrusted.
    const note = () => taints.noteServiceOf(name);
    const taint = { taints: () => true, noteRead: note, noteCalled: note, hasReadStored: false };
    const assertOwned = () => this.owners.assertOwned(sessionId);
    const life = new ServiceLife(journal, { name, id, secrets, taint, assertOwned }, opener);
    const access = {
      capability: 'service',
      operation: 'open',
      target: opener === undefined ? name : id,
      rule: 'declared',
    } as const;
    return recordAccess(opener ?? life, access, async (allow) => {
      this.#assertRoom(owner);
      allow();
      try {
        const policy = plan.policyOf(owner);
        this.#limit(life, sessionId, { owner, policy });
        const ctx = {
          sessionId,
          ...(personalityId !== undefined && { personalityId }),
          ...(workingDir !== undefined && { workingDir }),
          ...(networkPolicy !== undefined && { networkPolicy: structuredClone(networkPolicy) }),
        };
        const isCurrent = currency(plan, ctx, policy);
        const onEnded = () => this.#services.delete(service);
        const { maxCloseMs } = this.#options;
        const options = { plan, life, owner, ctx, policy, isCurrent, onEnded, maxCloseMs };
        const service = new Service(options);
        this.#services.add(service);
        return service.scope;
      } catch (error) {
        life.end();
        throw error;
      }
    });
  }

  /** The secrets that services of a call's owner resolved; `undefined` if there are none. */
  secretsOf(owner: SecretOwner): SecretRedactor | undefined {
    return this.#secrets.of(owner);
  }

  /** Ends the services of a session, and waits until they have ended. */
  async endSession(sessionId: string): Promise<void> {
    await this.#end(({ owner }) => owner.sessionId === sessionId, 'the session has ended');
    this.#secrets.forget(sessionId);
    this.owners.forget(sessionId);
  }

  /**
   * Ends the services of a personality, and those of sub-agents that run under it. Waits until they
   * have ended.
   */
  endPersonality(personalityId: string): Promise<void> {
    return this.#end(({ owner }) => isHeldTo(owner, personalityId), PERSONALITY_CHANGED);
  }

  /** Ends all services, and waits until they have ended. */
  endAll(): Promise<void> {
    return this.#end(() => true, 'all services were ended');
  }

  async #end(isMeant: (service: Service) => boolean, reason: string): Promise<void> {
    const meant = [...this.#services].filter(isMeant);
    await Promise.all(meant.map((service) => service.end(reason)));
  }

  #assertRoom({ sessionId, personalityId }: ServiceOwner): void {
    const open = [...this.#services].filter(
      ({ owner }) =>
        owner.sessionId === sessionId &&
        (sessionId !== undefined || owner.personalityId === personalityId),
    ).length;
    const max = sessionId === undefined ? MAX_WITHOUT_SESSION : this.#options.maxPerSession;
    if (open < max) return;
    throw new CapabilityError(
      'TOO_MANY_SERVICES',
      `${open} services are open, which is as many as may; end one that is no longer needed`,
      `at most ${max} services`,
    );
  }

  // A service may last for hours. The caps of a call would end it in the middle of its work.
  #limit(
    life: ServiceLife,
    sessionId: string,
    { owner, policy }: { owner: ServiceOwner; policy: PolicyAtOnce },
  ): void {
    const { meters } = this.#options;
    const { per_session } = policy.quotas ?? {};
    if (per_session === undefined) return;
    const { meter, leave } = meters.enter(sessionId);
    life.limit(new CallQuotas({ per_session }, meter));
    life.onEnd(leave);
    if (owner.sessionId === undefined) life.onEnd(() => meters.forget(sessionId));
  }
}

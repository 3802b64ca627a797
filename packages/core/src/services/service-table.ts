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
import type { KnownTaints } from '../known-taints.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import { CallQuotas } from '../quotas/call-quotas.js';
import type { SessionMeters } from '../quotas/session-meters.js';
import type { SecretRedactor } from '../results/redact.js';
import { Service } from './service.js';
import { currency } from './service-currency.js';
import { ServiceLife } from './service-life.js';
import { type SecretOwner, ServiceSecrets } from './service-secrets.js';

/** Services of one session that may be open at once, unless an option says otherwise. */
export const DEFAULT_MAX_SERVICES = 8;

/** The same of one personality, of those that belong to no session. */
const MAX_WITHOUT_SESSION = 64;

export interface ServiceTableOptions {
  backends: CapabilityBackends | undefined;
  meters: SessionMeters;
  taints: KnownTaints;
  maxPerSession: number;
  /** Milliseconds for a service to close. */
  maxCloseMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What is to be opened. */
export interface ServiceRequest {
  /** In the audit. */
  name: string;
  /** What it declares. */
  plan: CapabilityPlan;
  owner: ServiceOwner;
  /** Of the turn, or of the personality where there is none. */
  networkPolicy: NetworkPolicy | undefined;
  /** The call that opens it. */
  opener?: CallScope;
}

/** What is kept open, of all sessions. */
export class ServiceTable {
  readonly #options: ServiceTableOptions;
  readonly #services = new Set<Service>();
  readonly #secrets = new ServiceSecrets();

  constructor(options: ServiceTableOptions) {
    this.#options = options;
  }

  /** @throws `TOO_MANY_SERVICES`, `CALL_ENDED` when the call that opens it has ended */
  open({ name, plan, owner, networkPolicy, opener }: ServiceRequest): Promise<ServiceScope> {
    const { backends, now, taints } = this.#options;
    const { personalityId, workingDir } = owner;
    const id = `service-${crypto.randomUUID()}`;
    // What belongs to no session has one of its own, so that it shares no namespace and no meter.
    const sessionId = owner.sessionId ?? id;
    const secrets = this.#secrets.open(owner);
    const journal = {
      sessionId,
      personalityId,
      audit: backends?.audit,
      now,
      secrets: () => secrets,
    };
    // It lasts longer than what a session had read when it was opened: nobody knows whose it writes.
    const taint = { taints: () => true, noteRead: () => taints.noteServiceOf(name) };
    const life = new ServiceLife(journal, { name, id, secrets, taint }, opener);
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

  /** The secrets that services of a call's owner resolved; `undefined` for none. */
  secretsOf(owner: SecretOwner): SecretRedactor | undefined {
    return this.#secrets.of(owner);
  }

  /** Ends those of a session, and waits for it. */
  async endSession(sessionId: string): Promise<void> {
    await this.#end(({ owner }) => owner.sessionId === sessionId, 'the session has ended');
    this.#secrets.forget(sessionId);
  }

  /** Ends those of a personality, of sub-agents that are also held to it, too; waits for it. */
  endPersonality(personalityId: string): Promise<void> {
    const isHeldTo = ({ owner: { personalityId: id } }: Service) =>
      id === personalityId || id?.split('/').includes(personalityId) === true;
    return this.#end(isHeldTo, 'the personality has changed');
  }

  /** Ends all of them, and waits for it. */
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

  // What lasts for hours is no call: the caps of a call would end it in the middle of its work.
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

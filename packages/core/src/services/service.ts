import { discard, unawaited } from '@ethosagent/policy';
import type { RunningChild } from '@ethosagent/process';
import type { NetworkGuard } from '@ethosagent/safety-network';
import type { NetworkPolicy, ServiceOwner, ServiceProxy, ServiceScope } from '@ethosagent/types';
import { assertLive } from '../access.js';
import type { ResolveContext } from '../capabilities/capability-call.js';
import { SERVICE_IDLE_MS } from '../capabilities/network.js';
import type { CapabilityPlan } from '../capability-resolver.js';
import type { PolicyAtOnce } from '../personality-policy.js';
import type { ServiceLife } from './service-life.js';
import { ServiceProcessesImpl } from './service-processes.js';
import { type OpenProxy, openServiceProxy } from './service-proxy.js';
import { waitAtMost } from './wait-at-most.js';

export interface ServiceOptions {
  plan: CapabilityPlan;
  life: ServiceLife;
  owner: ServiceOwner;
  ctx: ResolveContext;
  policy: PolicyAtOnce;
  /**
   * Whether a service that is opened now, under this policy of a turn, would get the same grant.
   */
  isCurrent: (networkPolicy: NetworkPolicy | undefined) => boolean;
  /**
   * How many milliseconds the functions of `onEnd` may take, and after them processes and
   * connections.
   */
  maxCloseMs: number;
  /** Called when everything of the service has ended. */
  onEnded: () => void;
}

/** A service: accessors that work until it ends, and what ends with it. */
export class Service {
  readonly owner: Readonly<ServiceOwner>;
  /**
   * The part that is given to the tool. It is frozen, and is not the service itself: who holds it
   * can't extend the life of the service.
   */
  readonly scope: ServiceScope;
  readonly #life: ServiceLife;
  readonly #guard: NetworkGuard | undefined;
  readonly #onEnded: () => void;
  readonly #maxCloseMs: number;
  readonly #children = new Set<RunningChild>();
  #closers: Array<() => void | Promise<void>> | undefined = [];
  #proxy: Promise<OpenProxy> | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: ServiceOptions) {
    const { plan, life, owner, ctx, policy, isCurrent, onEnded, maxCloseMs } = options;
    this.#maxCloseMs = maxCloseMs;
    this.#life = life;
    this.#onEnded = onEnded;
    this.owner = { ...owner };
    const { personalityId, sessionId } = owner;
    const { fs_reach, network, process } = plan.describe(ctx, policy);
    const { accessors, guard } = plan.bindService({
      ctx,
      policy,
      scope: life,
      service: { onStarted: (child) => this.#follow(child) },
    });
    const { scopedProcess, kvStore, secretsResolver, scopedFetch, scopedFs } = accessors;
    this.#guard = guard;
    this.scope = Object.freeze({
      signal: life.signal,
      ...(personalityId !== undefined && { personalityId }),
      ...(sessionId !== undefined && { sessionId }),
      isCurrent: ({ networkPolicy }) => !life.ended && isCurrent(networkPolicy),
      ...(process?.sandbox !== undefined && { sandbox: process.sandbox }),
      denials: () => life.denials,
      ...(fs_reach !== undefined && { reach: fs_reach }),
      ...(network !== undefined && { hosts: network.allowedHosts }),
      ...(kvStore && { kvStore }),
      ...(secretsResolver && { secretsResolver }),
      ...(scopedFetch && { scopedFetch }),
      ...(scopedFs && { scopedFs }),
      ...(scopedProcess && { scopedProcess: new ServiceProcessesImpl(scopedProcess) }),
      ...(guard && { proxy: () => unawaited(this.#openProxy(guard)) }),
      redact: (text) => life.redactor?.redact(text) ?? text,
      onEnd: (close) => this.#beforeEnd(close),
      end: () => this.end('the service was ended'),
    } satisfies ServiceScope);
  }

  /** Ends the service, and gives the reason to what still runs for it. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  #beforeEnd(close: () => void | Promise<void>): void {
    if (this.#closers === undefined) void run(close);
    else this.#closers.push(close);
  }

  async #end(reason: string): Promise<void> {
    // A closer may call `end` again, so `#ending` must be set before the first closer runs.
    await Promise.resolve();
    const closers = this.#closers ?? [];
    this.#closers = undefined;
    await waitAtMost(Promise.all(closers.map(run)), this.#maxCloseMs);
    this.#life.endBecause(reason);
    const closed = [...this.#children].map((child) => child.closed);
    const proxy = this.#proxy?.then(({ close }) => close());
    await waitAtMost(
      Promise.allSettled([...closed, proxy, this.#guard?.close()]),
      this.#maxCloseMs,
    );
    this.#onEnded();
  }

  #follow(child: RunningChild): void {
    this.#children.add(child);
    discard(child.closed.then(() => this.#children.delete(child)));
  }

  async #openProxy(guard: NetworkGuard): Promise<ServiceProxy> {
    assertLive(this.#life, { capability: 'network', operation: 'proxy', target: '127.0.0.1' });
    this.#proxy ??= openServiceProxy(guard, this.#life, SERVICE_IDLE_MS);
    const opening = this.#proxy;
    try {
      const { given } = await opening;
      return { ...given };
    } catch (error) {
      if (this.#proxy === opening) this.#proxy = undefined;
      throw error;
    }
  }
}

/** If one closer throws, the others still run. */
async function run(close: () => void | Promise<void>): Promise<void> {
  try {
    await close();
  } catch {
    // There is nobody left to report this error to.
  }
}

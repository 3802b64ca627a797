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
  /** Whether one that is opened now, under this policy of a turn, would reach the same. */
  isCurrent: (networkPolicy: NetworkPolicy | undefined) => boolean;
  /** Milliseconds for what `onEnd` was given, and then for processes and connections to go. */
  maxCloseMs: number;
  /** Called when all of it has ended. */
  onEnded: () => void;
}

/** A service: accessors that last until it ends, and what ends with them. */
export class Service {
  readonly owner: Readonly<ServiceOwner>;
  /**
   * What is given out. Nobody can change it, and it is not this: whoever has it does not decide when
   * the service ends at the latest.
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

  /** Ends it, and tells what still runs on its behalf why. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  #beforeEnd(close: () => void | Promise<void>): void {
    if (this.#closers === undefined) void run(close);
    else this.#closers.push(close);
  }

  async #end(reason: string): Promise<void> {
    // A closer may end it once more: then it is known to be ending.
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

/** Whatever a closer throws, the others have their turn. */
async function run(close: () => void | Promise<void>): Promise<void> {
  try {
    await close();
  } catch {
    // It was told; there is nobody to tell in turn.
  }
}

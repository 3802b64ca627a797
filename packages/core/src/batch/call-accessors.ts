import { createHash } from 'node:crypto';
import { discard, meetNetworkPolicies } from '@ethosagent/policy';
import type { ServiceScope } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import type {
  BackgroundSession,
  BoundAccessors,
  RegistryCall,
} from '../capabilities/capability-call.js';
import { deepFreeze } from '../plain.js';
import { CallQuotas } from '../quotas/call-quotas.js';
import { currency } from '../services/service-currency.js';
import type { TurnHost } from '../turn-host.js';
import type { BatchInput } from './batch.js';
import { type BatchFacts, CallContext } from './call-context.js';
import type { CallState } from './call-state.js';
import { createEmit } from './progress.js';
import { sessionOfQuotas } from './session-of-quotas.js';

/** The context of a call that begins, with the accessors that its tool declared. */
export function createCallContext(state: CallState, scope: CallScope): CallContext {
  const { name, needsBackends, tool } = state.entry;
  if (needsBackends) applyQuotas(state, scope);
  const context = new CallContext(narrowedFacts(state), {
    toolCallId: state.toolCallId,
    idempotencyKey: tool.idempotent === true ? idempotencyKey(state) : undefined,
    emit: createEmit(name, scope, progressListener(state)),
    resultBudgetChars: state.budgetChars ?? 0,
    settings: state.settings,
  });
  if (needsBackends) bindAccessors(context, state, scope);
  return context;
}

function bindAccessors(accessors: BoundAccessors, state: CallState, scope: CallScope): void {
  const { batch, entry, policy, narrowing } = state;
  const registry = new CallOfRegistry(state, scope);
  entry.plan.bindTo(accessors, { ctx: batch.facts, policy, scope, narrowing, registry });
}

/**
 * The key depends only on the session, its start and the id of the call, so another process that
 * runs the same call gives the same key.
 */
function idempotencyKey({ batch, toolCallId }: CallState): string {
  const { sessionStartedAt } = batch.input.host ?? {};
  const call = JSON.stringify([batch.facts.sessionId, toolCallId, sessionStartedAt]);
  return createHash('sha256').update(call).digest('base64url');
}

/**
 * The facts of the batch, with the network policy narrowed as well: some tools fetch by that policy
 * themselves.
 */
function narrowedFacts({ batch, narrowing }: CallState): BatchFacts {
  const { hosts } = narrowing ?? {};
  if (hosts === undefined) return batch.facts;
  const within = { allow: [...hosts], allow_private_urls: true };
  const networkPolicy = meetNetworkPolicies(batch.facts.networkPolicy, within);
  deepFreeze(networkPolicy);
  return { ...batch.facts, ...(networkPolicy !== undefined && { networkPolicy }) };
}

/** What a call gets from its registry. Each part is worked out when a capability asks for it. */
class CallOfRegistry implements RegistryCall {
  readonly #state: CallState;
  readonly #scope: CallScope;

  constructor(state: CallState, scope: CallScope) {
    this.#state = state;
    this.#scope = scope;
  }

  get attachments() {
    return this.#state.batch.input.attachments;
  }

  get storage() {
    return this.#state.batch.facts.storage;
  }

  get readMtimes() {
    return this.#state.batch.facts.readMtimes;
  }

  get toolCallId() {
    return this.#state.toolCallId;
  }

  get delegation() {
    return this.#state.batch.input.host?.delegation;
  }

  get calls() {
    return callsOf(this.#state);
  }

  background() {
    return backgroundSession(this.#state, this.#scope);
  }

  openService() {
    return openService(this.#state, this.#scope);
  }
}

function callsOf({ batch, toolCallId, entry }: CallState): RegistryCall['calls'] {
  const { host } = batch.input;
  // A tool that was called by a tool calls no other tools.
  if (host?.calls === undefined || host.parentCallId !== undefined) return undefined;
  return () => {
    const call = host.calls?.({ toolCallId, toolName: entry.name });
    return call ?? (() => Promise.reject(new TypeError('the host runs no calls any more')));
  };
}

function openService(state: CallState, opener: CallScope): Promise<ServiceScope> {
  const { facts, input } = state.batch;
  const { name, plan } = state.entry;
  const { sessionId, personalityId, workingDir, networkPolicy } = facts;
  const owner = { sessionId, workingDir, ...(personalityId !== undefined && { personalityId }) };
  return input.services.open({ name, plan, owner, networkPolicy, opener });
}

function backgroundSession(state: CallState, scope: CallScope): BackgroundSession {
  const { facts, input, journal } = state.batch;
  const { sessionId } = facts;
  const { plan } = state.entry;
  const { policy } = state;
  return {
    isCurrent: () => currency(plan, facts, policy)(facts.networkPolicy),
    find: () => input.background.find(sessionId),
    open: () => input.background.open(sessionId),
    openScope: () => {
      const own = state.newScope(scope);
      applyQuotas(state, own);
      return own;
    },
    now: journal.now,
  };
}

/** Applies the quotas of the personality to a scope. */
function applyQuotas({ batch, policy }: CallState, scope: CallScope): void {
  const { quotas } = policy;
  if (quotas === undefined) return;
  const { meter, leave } = batch.input.meters.enter(sessionOfQuotas(batch));
  scope.limit(new CallQuotas(quotas, meter));
  scope.onEnd(leave);
}

function progressListener({ batch, toolCallId }: CallState): BatchInput['ctx']['emit'] | undefined {
  const { ctx, host } = batch.input;
  return host?.onProgress === undefined
    ? ctx.emit
    : toldTwice(host.onProgress, toolCallId, ctx.emit);
}

function toldTwice(
  onProgress: NonNullable<TurnHost['onProgress']>,
  toolCallId: string,
  emit: BatchInput['ctx']['emit'] | undefined,
): BatchInput['ctx']['emit'] {
  return (event) => {
    discard(onProgress(event, toolCallId));
    return emit?.(event);
  };
}

import { createHash } from 'node:crypto';
import { discard, meetNetworkPolicies } from '@ethosagent/policy';
import type { ServiceScope } from '@ethosagent/types';
import type { CallScope } from '../call-scope.js';
import type { BackgroundSession, RegistryCall } from '../capabilities/capability-call.js';
import { deepFreeze } from '../plain.js';
import { CallQuotas } from '../quotas/call-quotas.js';
import type { BatchInput } from './batch.js';
import { type BatchFacts, CallContext } from './call-context.js';
import type { CallState } from './call-state.js';
import { createEmit } from './progress.js';
import { sessionOfQuotas } from './session-of-quotas.js';

/** The context of a call that begins, with the accessors that its tool declared. */
export function createCallContext(state: CallState, scope: CallScope): CallContext {
  const { batch, entry } = state;
  const { name, needsBackends, plan } = entry;
  if (needsBackends) applyQuotas(state, scope);
  return new CallContext(narrowedFacts(state), {
    toolCallId: state.toolCallId,
    idempotencyKey: entry.tool.idempotent === true ? idempotencyKey(state) : undefined,
    emit: createEmit(name, scope, progressListener(state)),
    resultBudgetChars: state.budgetChars ?? 0,
    settings: state.settings,
    accessors: needsBackends
      ? plan.bind({
          ctx: batch.facts,
          policy: state.policy,
          scope,
          narrowing: state.narrowing,
          registry: registryCall(state, scope),
        })
      : undefined,
  });
}

/** Stands for the call, whichever process runs it. */
function idempotencyKey({ batch, toolCallId }: CallState): string {
  const call = JSON.stringify([batch.facts.sessionId, toolCallId]);
  return createHash('sha256').update(call).digest('base64url');
}

/** What a tool is told of the network policy is narrowed, too, for those that fetch by it. */
function narrowedFacts({ batch, narrowing }: CallState): BatchFacts {
  const { hosts } = narrowing ?? {};
  if (hosts === undefined) return batch.facts;
  const within = { allow: [...hosts], allow_private_urls: true };
  const networkPolicy = meetNetworkPolicies(batch.facts.networkPolicy, within);
  deepFreeze(networkPolicy);
  return { ...batch.facts, ...(networkPolicy !== undefined && { networkPolicy }) };
}

function registryCall(state: CallState, scope: CallScope): RegistryCall {
  const { facts, input } = state.batch;
  return {
    attachments: input.attachments,
    storage: facts.storage,
    readMtimes: facts.readMtimes,
    delegation: input.host?.delegation,
    calls: callsOf(state),
    background: () => backgroundSession(state, scope),
    openService: () => openService(state, scope),
  };
}

function callsOf({ batch, toolCallId, entry }: CallState): RegistryCall['calls'] {
  const { host } = batch.input;
  // What is called by a tool calls none itself.
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
  return {
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

/** Holds what a scope does to the quotas of the personality. */
function applyQuotas({ batch, policy }: CallState, scope: CallScope): void {
  const { quotas } = policy;
  if (quotas === undefined) return;
  const { meter, leave } = batch.input.meters.enter(sessionOfQuotas(batch));
  scope.limit(new CallQuotas(quotas, meter));
  scope.onEnd(leave);
}

function progressListener({ batch, toolCallId }: CallState): BatchInput['ctx']['emit'] | undefined {
  const { ctx, host } = batch.input;
  const { emit } = ctx;
  const onProgress = host?.onProgress;
  if (onProgress === undefined) return emit;
  return (event) => {
    discard(onProgress(event, toolCallId));
    return emit?.(event);
  };
}

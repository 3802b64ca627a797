import { causeOfThrown, errorText } from '@ethosagent/policy';
import type { QuotaLimits } from '@ethosagent/types';
import { failure } from '../../results/check-shape.js';
import type { CallState } from '../call-state.js';
import { guarded } from '../guarded.js';
import { sessionOfQuotas } from '../session-of-quotas.js';
import { type Answer, type Step, unfinished } from './step.js';

/**
 * Learns what the session of the call used in other processes, where they share its counts. If its
 * use can't be read, the call does not run.
 */
export const exchangeUse: Step = (state) => {
  const { batch, entry } = state;
  const { meters, host } = batch.input;
  if (!meters.areShared || !entry.needsBackends || host?.checksOnly !== undefined) return undefined;
  const { per_session } = state.policy.quotas ?? {};
  return per_session === undefined ? undefined : exchange(state, per_session);
};

async function exchange(state: CallState, perSession: QuotaLimits): Promise<Answer> {
  const { batch, timeoutMs } = state;
  const share = () => batch.input.meters.exchange(sessionOfQuotas(batch), perSession);
  state.shareUse = share;
  const ending = await guarded(batch.watch, timeoutMs, share);
  if (ending.kind === 'returned') return undefined;
  if (ending.kind === 'stopped') return unfinished(state, ending);
  state.thrown = { error: ending.error };
  return failure(
    `the call did not run, since what its session has used could not be read: ${errorText(ending.error)}`,
    causeOfThrown(ending.error) ?? 'STORE_UNAVAILABLE',
  );
}

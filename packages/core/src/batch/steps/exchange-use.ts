import { causeOfThrown, errorText } from '@ethosagent/policy';
import { failure } from '../../results/check-shape.js';
import { guarded } from '../guarded.js';
import { sessionOfQuotas } from '../session-of-quotas.js';
import { type Step, unfinished } from './step.js';

/**
 * Learns what the session of the call used in other processes, where its counts are shared. A call
 * whose caps can't be looked up does not run.
 */
export const exchangeUse: Step = (state) => {
  const { batch, entry, policy, timeoutMs } = state;
  const { meters, host } = batch.input;
  if (!meters.areShared || !entry.needsBackends || host?.checksOnly !== undefined) return undefined;
  const { per_session } = policy.quotas ?? {};
  if (per_session === undefined) return undefined;
  const exchange = () => meters.exchange(sessionOfQuotas(batch), per_session);
  state.shareUse = exchange;
  return exchanged();

  async function exchanged() {
    const ending = await guarded(batch.watch, timeoutMs, exchange);
    if (ending.kind === 'returned') return undefined;
    if (ending.kind === 'stopped') return unfinished(state, ending);
    state.thrown = { error: ending.error };
    return failure(
      `the call did not run, since what its session has used could not be read: ${errorText(ending.error)}`,
      causeOfThrown(ending.error) ?? 'STORE_UNAVAILABLE',
    );
  }
};

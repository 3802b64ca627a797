import { causeOfThrown, errorText } from '@ethosagent/policy';
import { failure } from '../../results/check-shape.js';
import type { CallState } from '../call-state.js';
import { type Ending, guarded } from '../guarded.js';
import { type Answer, notAvailable, type Step, unfinished } from './step.js';

/** Lets the owner of the turn record that the call begins. */
export const recordStart: Step = (state) => {
  const { facts, input } = state.batch;
  if (input.host?.checksOnly !== undefined) {
    const { toolCallId, name, issued: args } = state;
    input.host.checksOnly({ toolCallId, name, args });
    return notAvailable('the call was only looked at', 'CALL_ABORTED');
  }
  // A dry run begins nothing.
  if (facts.dryRun === true || input.host?.beforeRun === undefined) return undefined;
  return record(state);
};

function record(state: CallState): Answer | Promise<Answer> {
  const { toolCallId, name, issued: args, batch } = state;
  const ending = guarded(batch.watch, Number.POSITIVE_INFINITY, () =>
    batch.input.host?.beforeRun?.({ toolCallId, name, args }),
  );
  if (ending instanceof Promise) return ending.then((settled) => answer(state, settled));
  return answer(state, ending);
}

function answer(state: CallState, ending: Ending<void>): Answer {
  if (ending.kind === 'returned') return undefined;
  if (ending.kind === 'stopped') return unfinished(state, ending);
  const { error } = ending;
  state.thrown = { error };
  return failure(
    `the call did not run, since it could not be recorded: ${errorText(error)}`,
    causeOfThrown(error) ?? 'AUDIT_FAILED',
  );
}

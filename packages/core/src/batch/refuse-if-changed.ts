import { isDeepStrictEqual } from 'node:util';
import { saysTheSame } from '../tool-settings.js';
import type { CallState } from './call-state.js';
import { unseenWritesOf } from './steps/note-unseen-writes.js';
import { type Answer, notAvailable } from './steps/step.js';

const CHANGED = 'what it may do changed while it waited, so it did not run';

/**
 * The gates let a call pass that then waited: for a person, for a record, or for its place. Refuses
 * the call if the personality no longer has its tool, sets it differently, says something else about
 * untrusted content, or lets its programs write elsewhere. A yes was also given to one tool with one
 * reach.
 */
export function refuseIfChanged(state: CallState): Answer {
  const { approved, entry } = state;
  if (approved !== undefined) state.forgetPolicy();
  if (!state.hasWaited || isAsBefore(state)) return undefined;
  return approved === undefined
    ? notAvailable(
        `${entry.name}: ${CHANGED}; call it again if it is still wanted`,
        'TOOL_NOT_ALLOWED',
      )
    : notAvailable(
        `${entry.name} needs approval, and ${CHANGED}; call it again to ask again`,
        'NOT_APPROVED',
      );
}

function isAsBefore(state: CallState): boolean {
  const { policy, entry, gated, unseenWrites, approved, batch, narrowing } = state;
  const { input, facts } = batch;
  try {
    return (
      policy.offers(entry.name) &&
      (gated === undefined || isDeepStrictEqual(policy.untrusted, gated.untrusted)) &&
      saysTheSame(entry.settings?.resolve(policy), state.resolvedSettings) &&
      (unseenWrites === undefined || isDeepStrictEqual(unseenWritesOf(state), unseenWrites)) &&
      (approved === undefined ||
        (input.tools.get(entry.name) === entry &&
          isDeepStrictEqual(entry.plan.describe(facts, policy, narrowing), approved)))
    );
  } catch {
    // A host's backend that throws does not prove that nothing has changed.
    return false;
  }
}

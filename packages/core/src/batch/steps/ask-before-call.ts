import { errorText } from '@ethosagent/policy';
import { copyPlain, deepFreeze } from '../../plain.js';
import { turnGate } from '../approval-reason.js';
import type { CallState } from '../call-state.js';
import { guarded } from '../guarded.js';
import { type Answer, notAvailable, type Step, unfinished } from './step.js';

/** Asks the host's `beforeCall`, which may refuse the call or have it approved. */
export const askBeforeCall: Step = (state) => {
  const { beforeCall } = state.batch.input.hooks;
  return beforeCall === undefined ? undefined : ask(state, beforeCall);
};

type BeforeCallHook = NonNullable<CallState['batch']['input']['hooks']['beforeCall']>;

async function ask(state: CallState, beforeCall: BeforeCallHook): Promise<Answer> {
  const { batch, toolCallId, name, args } = state;
  const { sessionId, personalityId } = batch.facts;
  const plain = copyPlain(args);
  const ending = await guarded(batch.watch, state.timeoutMs, () =>
    beforeCall({
      toolCallId,
      toolName: name,
      args: deepFreeze(plain.ok ? plain.value : structuredClone(state.issued)),
      sessionId,
      ...(personalityId !== undefined && { personalityId }),
    }),
  );
  if (ending.kind === 'stopped') return unfinished(state, ending);
  if (ending.kind === 'threw') {
    state.thrown = { error: ending.error };
    return notAvailable(`the host refused the call (${errorText(ending.error)})`, 'NOT_APPROVED');
  }
  const gate = turnGate(() => ending.value ?? undefined);
  if (gate === undefined) return undefined;
  if ('refuse' in gate) return notAvailable(gate.refuse, 'NOT_APPROVED');
  state.asked = gate.ask;
  return undefined;
}

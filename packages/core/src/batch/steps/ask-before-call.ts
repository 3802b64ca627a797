import { errorText } from '@ethosagent/policy';
import type { BeforeCallHook, CallBegin } from '../../call-hooks.js';
import { meetNarrowings } from '../../call-narrowing.js';
import { copyPlain, deepFreeze } from '../../plain.js';
import { joined } from '../approval-reason.js';
import { readHostAnswer } from '../before-call-answer.js';
import type { CallState } from '../call-state.js';
import { guarded } from '../guarded.js';
import { type Answer, notAvailable, type Step, unfinished } from './step.js';

/** Asks the host's `beforeCall`, which may refuse the call, have it approved, or narrow it. */
export const askBeforeCall: Step = (state) => {
  const { beforeCall } = state.batch.input.hooks;
  if (beforeCall === undefined) return undefined;
  return askAll(state, typeof beforeCall === 'function' ? [beforeCall] : beforeCall);
};

/** Asks the hooks in order, until one refuses. */
async function askAll(state: CallState, hooks: readonly BeforeCallHook[]): Promise<Answer> {
  for (const hook of hooks) {
    const answer = await ask(state, hook);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function ask(state: CallState, hook: BeforeCallHook): Promise<Answer> {
  const ending = await guarded(state.batch.watch, state.timeoutMs, () => hook(callOf(state)));
  if (ending.kind === 'stopped') return unfinished(state, ending);
  if (ending.kind === 'threw') {
    state.thrown = { error: ending.error };
    return notAvailable(`the host refused the call (${errorText(ending.error)})`, 'NOT_APPROVED');
  }
  const said = readHostAnswer(ending.value);
  if ('refuse' in said) return notAvailable(said.refuse, 'NOT_APPROVED');
  state.asked = joined(state.asked, said.ask);
  if (said.narrow === undefined) return undefined;
  const { tool, plan } = state.entry;
  const why =
    tool.unconfined === true
      ? 'it is a function from elsewhere'
      : plan.unnarrowable && `it declares ${plan.unnarrowable}`;
  if (why !== undefined) {
    const text = `${state.name} did not run: the host limits what this call may reach, and ${state.name} can't be limited (${why}); use another tool`;
    return notAvailable(text, 'NOT_APPROVED');
  }
  state.narrowing = meetNarrowings(state.narrowing, said.narrow);
  return undefined;
}

function callOf(state: CallState): CallBegin {
  const { batch, toolCallId, name, args } = state;
  const { sessionId, personalityId } = batch.facts;
  const { parentCallId } = batch.input.host ?? {};
  const plain = copyPlain(args);
  return {
    toolCallId,
    ...(parentCallId !== undefined && { parentCallId }),
    toolName: name,
    args: deepFreeze(plain.ok ? plain.value : structuredClone(state.issued)),
    sessionId,
    ...(personalityId !== undefined && { personalityId }),
  };
}

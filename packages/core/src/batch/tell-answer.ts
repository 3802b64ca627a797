import type { AuditSink, ToolCall, ToolCallResult, ToolResult } from '@ethosagent/types';
import { type CallHooks, tellError } from '../call-hooks.js';
import { copyPlain, deepFreeze } from '../plain.js';
import { failure } from '../results/check-shape.js';
import type { CallFacts } from '../turn-host.js';
import type { CallState } from './call-state.js';
import { begun, guarded } from './guarded.js';
import { recordAnswer } from './record-answer.js';
import { notRecorded } from './record-call.js';
import { stopped } from './steps/step.js';

/** What is passed on together with an answer. */
interface Told {
  isUntrusted: boolean;
  /** Absent when nobody besides the batch receives the answers. */
  facts?: CallFacts;
}

type Heard = Required<Told>;

/**
 * Records a call, and gives its answer to the host and then to the batch. Each may withhold the
 * answer, and the next one gets the failure in its place.
 *
 * @param state the call
 * @param answer what its tool or a step answered
 * @param isUntrusted whether somebody else may have written the answer
 */
export function tellAnswer(state: CallState, answer: ToolResult, isUntrusted: boolean): void {
  const { batch, shareUse } = state;
  if (!batch.isHeard && shareUse === undefined) {
    hand(state, answer, { isUntrusted });
    return;
  }
  const facts = factsOf(state);
  const recorded = recordAnswer(state, answer, facts);
  const told = { isUntrusted, facts };
  if (facts.ran && shareUse !== undefined)
    void shared(state, shareUse).then(() => keep(state, recorded, told));
  else keep(state, recorded, told);
}

function factsOf({ ran, startedAt, taint }: CallState): CallFacts {
  const reads = ran ? taint?.reads : undefined;
  return {
    ran,
    durationMs: ran ? performance.now() - startedAt : 0,
    ...(reads !== undefined && { reads }),
  };
}

/**
 * Resolves when other processes know what the call used. If they can't be told now, the next call
 * tells them.
 */
async function shared(
  { batch, timeoutMs }: CallState,
  shareUse: () => Promise<void>,
): Promise<void> {
  const sharing = shareUse();
  // The promise must not be left unhandled when the turn is aborted and nobody waits for it.
  sharing.catch(() => {});
  await guarded(batch.watch, timeoutMs, () => sharing);
}

/** Gives the answer once the record of the call is stored. */
function keep(state: CallState, recorded: ToolResult, told: Heard): void {
  const { host, backends } = state.batch.input;
  const sink = backends?.audit;
  if (sink?.flush === undefined || host?.checksOnly !== undefined || state.waits) {
    tellHook(state, recorded, told);
    return;
  }
  void kept(state, recorded, { sink, facts: told.facts }).then((result) =>
    tellHook(state, result, told),
  );
}

/** Resolves to the answer once the record of the call is stored. */
async function kept(
  { batch, timeoutMs }: CallState,
  result: ToolResult,
  { sink, facts }: { sink: AuditSink; facts: CallFacts },
): Promise<ToolResult> {
  const ending = await guarded(batch.watch, timeoutMs, () => sink.flush?.());
  if (ending.kind === 'returned') return result;
  // A call that was aborted has already failed, and nobody reads more of it.
  return ending.kind === 'stopped' && ending.why === 'abort' && !result.ok
    ? result
    : notRecorded(facts);
}

function tellHook(state: CallState, recorded: ToolResult, told: Heard): void {
  const { hooks, host } = state.batch.input;
  const { afterCall } = hooks;
  if (afterCall === undefined || host?.checksOnly !== undefined) {
    hand(state, recorded, told);
    return;
  }
  void heard(state, recorded, { afterCall, facts: told.facts }).then((result) =>
    hand(state, result, told),
  );
}

/** Resolves to the answer once the host's `afterCall` has heard of it. */
async function heard(
  state: CallState,
  result: ToolResult,
  {
    afterCall,
    facts: { durationMs, ran },
  }: { afterCall: NonNullable<CallHooks['afterCall']>; facts: CallFacts },
): Promise<ToolResult> {
  const { batch, name: toolName, toolCallId, args, issued } = state;
  const { sessionId, personalityId } = batch.facts;
  const { parentCallId } = batch.input.host ?? {};
  const shown = copyPlain(args ?? issued);
  const ending = await begun(batch.watch, state.timeoutMs, () =>
    afterCall({
      toolCallId,
      ...(parentCallId !== undefined && { parentCallId }),
      toolName,
      args: shown.ok ? deepFreeze(shown.value) : undefined,
      sessionId,
      ...(personalityId !== undefined && { personalityId }),
      result: structuredClone(result),
      durationMs,
    }),
  );
  if (ending.kind === 'returned') return result;
  // The turn ended, and not the hook.
  if (ending.kind === 'stopped' && ending.why === 'abort')
    return result.ok ? stopped(state, ending) : result;
  const error = ending.kind === 'threw' ? ending.error : ending.reason;
  state.thrown = { error };
  const why = "its answer is withheld, because the host's afterCall hook failed";
  return failure(
    ran
      ? `the call has run, and ${why}; check what it did before you call it again`
      : `the call did not run, and ${why}; tell the user`,
    'AUDIT_FAILED',
  );
}

/** Gives the answer to the batch. */
function hand(state: CallState, result: ToolResult, { isUntrusted, facts }: Told): void {
  const { batch, call, index, name, toolCallId, thrown } = state;
  if (!result.ok && thrown !== undefined) {
    const { sessionId, personalityId } = batch.facts;
    tellError(batch.input.hooks, {
      toolCallId,
      toolName: name,
      sessionId,
      ...(personalityId !== undefined && { personalityId }),
      code: result.code,
      ...(result.cause !== undefined && { cause: result.cause }),
      error: thrown.error,
    });
  }
  const answer = resultOf(call, result);
  if (isUntrusted) answer.untrusted = true;
  batch.answer(index, answer, facts);
}

/**
 * A host may pass something that can't even be read, such as a revoked `Proxy`. It gets an answer
 * as well.
 */
function resultOf(call: ToolCall | undefined, result: ToolResult): ToolCallResult {
  try {
    const { toolCallId, name } = Object(call);
    return { toolCallId, name, result };
  } catch {
    return { toolCallId: '', name: '', result };
  }
}

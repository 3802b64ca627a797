import type { AuditSink, ToolCall, ToolCallResult, ToolResult } from '@ethosagent/types';
import { textOf } from '../access.js';
import { type CallHooks, tellError } from '../call-hooks.js';
import { copyPlain, deepFreeze } from '../plain.js';
import { failure } from '../results/check-shape.js';
import { trimResult } from '../results/trim.js';
import { mayBeForeign } from '../results/untrusted/may-be-foreign.js';
import type { CallFacts } from '../turn-host.js';
import type { Batch } from './batch.js';
import { CallState } from './call-state.js';
import { checkOutput } from './check-output.js';
import { type Ending, guarded, stoppedBy } from './guarded.js';
import { notRecorded, recordCall, redactedJson } from './record-call.js';
import { runTool } from './run-tool.js';
import type { Waiting } from './slots.js';
import { refuseIfChanged } from './steps/ask-approval.js';
import { STEPS } from './steps/index.js';
import { type Answer, threw } from './steps/step.js';
import type { Watched } from './watch.js';
import { wayBack } from './way-back.js';

/** What is passed on together with an answer. */
interface Told {
  isUntrusted: boolean;
  /** Absent when nobody besides the batch receives the answers. */
  facts?: CallFacts;
}

type Heard = Required<Told>;

/** One call on its way through the registry: the steps, its place, the tool, and the way back. */
export class RunningCall implements Watched, Waiting {
  deadline = 0;
  readonly #state: CallState;
  readonly #index: number;
  #ran = false;
  /** Only set where somebody is told how long the call took. */
  #startedAt = 0;

  /** @param index the place of the call in the batch */
  constructor(batch: Batch, index: number) {
    this.#state = new CallState(batch, batch.input.calls[index]);
    this.#index = index;
  }

  start(): void {
    try {
      const answered = this.#takeSteps(0);
      if (answered instanceof Promise) {
        answered.then(
          (result) => this.#enter(result),
          (error: unknown) => this.#finish(threw(this.#state, error)),
        );
      } else {
        this.#enter(answered);
      }
    } catch (error) {
      // A gate or a callback of the host failed. The other calls go on.
      this.#finish(threw(this.#state, error));
    }
  }

  /** The deadline has come, or the turn was aborted. */
  stop(why: 'timeout' | 'abort', reason: unknown): void {
    this.#end({ kind: 'stopped', why, reason });
  }

  /** Runs the tool, now that there is a place. */
  proceed(): void {
    const state = this.#state;
    // The call may have waited for its record and its place after it was approved.
    const refused = refuseIfChanged(state);
    if (refused !== undefined) {
      state.batch.slots.release();
      this.#finish(refused);
      return;
    }
    this.#ran = true;
    if (state.batch.isHeard) this.#startedAt = performance.now();
    const pending = runTool(state);
    if ('kind' in pending) {
      this.#end(pending);
      return;
    }
    const { watch } = state.batch;
    // Each call has its own deadline, counted from here: another call of the batch may have kept
    // the processor until now.
    this.deadline = performance.now() + state.timeoutMs;
    watch.add(this);
    try {
      // A foreign thenable may call back several times; a real promise that resolves to it settles
      // once.
      Promise.resolve(pending).then(
        (value) => this.#end({ kind: 'returned', value }),
        (error: unknown) => this.#end({ kind: 'threw', error }),
      );
    } catch (error) {
      // The `then` of a foreign promise may throw.
      this.#end({ kind: 'threw', error });
    }
  }

  /** Takes the steps in order until one answers. */
  #takeSteps(first: number): Answer | Promise<Answer> {
    const state = this.#state;
    for (let at = first; at < STEPS.length; at++) {
      const step = STEPS[at];
      const answered = step?.(state);
      if (answered === undefined) continue;
      state.gate = step?.name;
      if (answered instanceof Promise) {
        return answered.then((result) => {
          state.forgetPolicy();
          if (result === undefined) state.gate = undefined;
          return result ?? this.#takeSteps(at + 1);
        });
      }
      return answered;
    }
    return undefined;
  }

  /** Waits for a place, unless the call has an answer already. */
  #enter(answered: Answer): void {
    if (answered !== undefined) {
      this.#finish(answered);
      return;
    }
    const state = this.#state;
    state.batch.slots.enter(this);
    // The call waits for a place, and the policy may change until it gets one.
    if (state.scope === undefined) state.forgetPolicy();
  }

  /** The tool has ended, or its call was stopped. Only the first of the two counts. */
  #end(ended: Ending<unknown>): void {
    const { batch, scope, taint, entry } = this.#state;
    if (scope?.ended) return;
    batch.watch.remove(this);
    // An abort before the watch was set up has not stopped the call yet.
    const ending = batch.watch.aborted ? stoppedBy(batch.watch) : ended;
    if (ending.kind === 'stopped') scope?.abort(ending.reason ?? this.#state.timeoutError);
    scope?.end();
    batch.slots.release();
    const result = wayBack(this.#state, ending);
    const hasRead = taint?.hasRead ?? batch.input.taints.hasServiceOf(entry.name);
    if (hasRead || mayBeForeign(entry.tool, result)) {
      batch.input.taints.noteSession(batch.facts.sessionId);
    }
    const checked = checkOutput(this.#state, result);
    if (checked instanceof Promise) void checked.then((judged) => this.#tell(judged, hasRead));
    else this.#tell(checked, hasRead);
  }

  #finish(result: ToolResult): void {
    const { budgetChars } = this.#state;
    this.#tell(budgetChars === undefined ? result : trimResult(result, budgetChars));
  }

  /** Records the call, and gives the answer to the host and the batch. */
  #tell(answer: ToolResult, isUntrusted = false): void {
    const { batch, shareUse } = this.#state;
    if (!batch.isHeard && shareUse === undefined) {
      this.#hand(answer, { isUntrusted });
      return;
    }
    const facts = this.#facts();
    const recorded = this.#recordOrWithhold(answer, facts);
    const told = { isUntrusted, facts };
    if (facts.ran && shareUse !== undefined)
      void this.#shared(shareUse).then(() => this.#keep(recorded, told));
    else this.#keep(recorded, told);
  }

  #facts(): CallFacts {
    const ran = this.#ran;
    const reads = ran ? this.#state.taint?.reads : undefined;
    return {
      ran,
      durationMs: ran ? performance.now() - this.#startedAt : 0,
      ...(reads !== undefined && { reads }),
    };
  }

  /**
   * Resolves when other processes know what the call used. If they can't be told now, the next call
   * tells them.
   */
  async #shared(shareUse: () => Promise<void>): Promise<void> {
    const { batch, timeoutMs } = this.#state;
    const sharing = shareUse();
    // The promise must not be left unhandled when the turn is aborted and nobody waits for it.
    sharing.catch(() => {});
    await guarded(batch.watch, timeoutMs, () => sharing);
  }

  /** Gives the answer once the record of the call is stored. */
  #keep(recorded: ToolResult, told: Heard): void {
    const { host, backends } = this.#state.batch.input;
    const sink = backends?.audit;
    if (sink?.flush === undefined || host?.checksOnly !== undefined || this.#state.waits) {
      this.#toldBy(recorded, told);
      return;
    }
    void this.#kept(sink, recorded, told.facts).then((result) => this.#toldBy(result, told));
  }

  /** Resolves to the answer once the record of the call is stored. */
  async #kept(sink: AuditSink, result: ToolResult, facts: CallFacts): Promise<ToolResult> {
    const { batch, timeoutMs } = this.#state;
    const ending = await guarded(batch.watch, timeoutMs, () => sink.flush?.());
    if (ending.kind === 'returned') return result;
    // A call that was aborted has already failed, and nobody reads more of it.
    return ending.kind === 'stopped' && ending.why === 'abort' && !result.ok
      ? result
      : notRecorded(facts);
  }

  #toldBy(recorded: ToolResult, told: Heard): void {
    const { hooks, host } = this.#state.batch.input;
    const { afterCall } = hooks;
    if (afterCall === undefined || host?.checksOnly !== undefined) {
      this.#hand(recorded, told);
      return;
    }
    void this.#after(afterCall, recorded, told.facts).then((result) => this.#hand(result, told));
  }

  async #after(
    afterCall: NonNullable<CallHooks['afterCall']>,
    result: ToolResult,
    { durationMs, ran }: CallFacts,
  ): Promise<ToolResult> {
    const { batch, name: toolName, toolCallId, args, issued } = this.#state;
    const { sessionId, personalityId } = batch.facts;
    const { parentCallId } = batch.input.host ?? {};
    const shown = copyPlain(args ?? issued);
    const ending = await guarded(batch.watch, this.#state.timeoutMs, () =>
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
    const error = ending.kind === 'threw' ? ending.error : ending.reason;
    this.#state.thrown = { error };
    const why = "its answer is withheld, because the host's afterCall hook failed";
    return failure(
      ran
        ? `the call has run, and ${why}; check what it did before you call it again`
        : `the call did not run, and ${why}; tell the user`,
      'AUDIT_FAILED',
    );
  }

  #hand(result: ToolResult, { isUntrusted, facts }: Told): void {
    const { batch, call, name, toolCallId, thrown } = this.#state;
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
    batch.answer(this.#index, answer, facts);
  }

  /** What the clock or the sink of the host throws must not keep the batch from its answer. */
  #recordOrWithhold(result: ToolResult, facts: CallFacts): ToolResult {
    try {
      return this.#record(result, facts);
    } catch (error) {
      this.#state.thrown = { error };
      return notRecorded(facts);
    }
  }

  /** Records nothing for a call that waits for a decision, nor for a call that was only checked. */
  #record(result: ToolResult, facts: CallFacts): ToolResult {
    const { batch, waits, gate, approval, scope, issued, redactions } = this.#state;
    const { backends, host, options } = batch.input;
    const sink = backends?.audit;
    if (sink?.call === undefined || waits || host?.checksOnly !== undefined) return result;
    const { sessionId, personalityId, agentId, userScopeId, teamId } = batch.facts;
    const { auditArguments: withArgs, auditResults: withResult } = options;
    const redactor = withArgs ? scope?.redactor : undefined;
    return recordCall(
      sink,
      {
        time: new Date(options.now()).toISOString(),
        sessionId,
        ...(personalityId !== undefined && { personalityId }),
        ...(agentId !== undefined && { agentId }),
        ...(userScopeId !== undefined && { userScopeId }),
        ...(teamId !== undefined && { teamId }),
        toolName: textOf(this.#state.name),
        toolCallId: textOf(this.#state.toolCallId),
        ...(host?.parentCallId !== undefined && { parentCallId: textOf(host.parentCallId) }),
        args: redactor === undefined ? issued : redactedJson(issued, redactor),
        ...(!facts.ran && gate !== undefined && { gate }),
        ...(approval !== undefined && { approval }),
        ...(redactions > 0 && { redactions }),
      },
      { result, facts, withArgs, withResult },
    );
  }
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

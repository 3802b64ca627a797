import type { ToolCall, ToolResult } from '@ethosagent/types';
import { tellError } from '../call-hooks.js';
import { trimResult } from '../results/trim.js';
import { mayBeForeign } from '../results/untrusted/may-be-foreign.js';
import type { CallFacts } from '../turn-host.js';
import type { Batch } from './batch.js';
import { CallState } from './call-state.js';
import type { Ending } from './guarded.js';
import { runTool } from './run-tool.js';
import type { Waiting } from './slots.js';
import { refuseIfChanged } from './steps/ask-approval.js';
import { STEPS } from './steps/index.js';
import { type Answer, threw } from './steps/step.js';
import type { Watched } from './watch.js';
import { wayBack } from './way-back.js';

/** Gives a batch the result of a call. */
export type AnswerBatch = (
  result: ToolResult,
  told: { isUntrusted: boolean; facts: CallFacts },
) => void;

/** One call on its way through the registry: the steps, its place, the tool, and the way back. */
export class RunningCall implements Watched, Waiting {
  deadline = 0;
  readonly #state: CallState;
  readonly #answer: AnswerBatch;
  #startedAt: number | undefined;

  constructor(batch: Batch, call: ToolCall, answer: AnswerBatch) {
    this.#state = new CallState(batch, call);
    this.#answer = answer;
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
      // A fault of a gate or of a host's callback: the other calls go on.
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
    // It may have waited for its record and its place after the yes.
    const refused = refuseIfChanged(state);
    if (refused !== undefined) {
      state.batch.slots.release();
      this.#finish(refused);
      return;
    }
    this.#startedAt = performance.now();
    const pending = runTool(state);
    if ('kind' in pending) {
      this.#end(pending);
      return;
    }
    const { watch } = state.batch;
    this.deadline = watch.now() + state.timeoutMs;
    watch.add(this);
    try {
      // A foreign thenable may lie; a real promise of its answer settles once.
      Promise.resolve(pending).then(
        (value) => this.#end({ kind: 'returned', value }),
        (error: unknown) => this.#end({ kind: 'threw', error }),
      );
    } catch (error) {
      // A promise whose own `then` throws.
      this.#end({ kind: 'threw', error });
    }
  }

  /** Takes the steps in their order until one answers. */
  #takeSteps(first: number): Answer | Promise<Answer> {
    const state = this.#state;
    for (let at = first; at < STEPS.length; at++) {
      const answered = STEPS[at]?.(state);
      if (answered === undefined) continue;
      if (answered instanceof Promise) {
        return answered.then((result) => {
          state.forgetPolicy();
          return result ?? this.#takeSteps(at + 1);
        });
      }
      return answered;
    }
    return undefined;
  }

  /** Waits for a place, unless there is an answer already. */
  #enter(answered: Answer): void {
    if (answered !== undefined) {
      this.#finish(answered);
      return;
    }
    const state = this.#state;
    state.batch.slots.enter(this);
    // It waits for a place: what held until now may not hold when it gets one.
    if (state.scope === undefined) state.forgetPolicy();
  }

  /** The tool has ended, or is left behind. Only the first of both counts. */
  #end(ending: Ending<unknown>): void {
    const { batch, scope } = this.#state;
    if (scope?.ended) return;
    batch.watch.remove(this);
    if (ending.kind === 'stopped') scope?.abort(ending.reason ?? this.#state.timeoutError);
    scope?.end();
    batch.slots.release();
    const result = wayBack(this.#state, ending);
    const { taint, entry } = this.#state;
    const hasRead = taint?.hasRead === true;
    if (hasRead || mayBeForeign(entry.tool, result)) {
      batch.input.taints.noteSession(batch.facts.sessionId);
    }
    this.#tell(result, hasRead);
  }

  /** Answers a call that did not run. */
  #finish(result: ToolResult): void {
    const { budgetChars } = this.#state;
    this.#tell(budgetChars === undefined ? result : trimResult(result, budgetChars));
  }

  /** Tells the host of the error behind a failure, and the batch of the result. */
  #tell(result: ToolResult, isUntrusted = false): void {
    const { batch, name, toolCallId, thrown } = this.#state;
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
    const startedAt = this.#startedAt;
    const ran = startedAt !== undefined;
    this.#answer(result, {
      isUntrusted,
      facts: { ran, durationMs: ran ? performance.now() - startedAt : 0 },
    });
  }
}

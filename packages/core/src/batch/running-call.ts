import type { ToolResult } from '@ethosagent/types';
import { mayBeForeign } from '../results/untrusted/may-be-foreign.js';
import type { Batch } from './batch.js';
import { CallState } from './call-state.js';
import { checkOutput } from './check-output.js';
import { type Ending, stoppedBy } from './guarded.js';
import { refuseIfChanged } from './refuse-if-changed.js';
import { runTool } from './run-tool.js';
import type { Waiting } from './slots.js';
import { STEPS } from './steps/index.js';
import { type Answer, threw } from './steps/step.js';
import { tellAnswer } from './tell-answer.js';
import type { Watched } from './watch.js';
import { fitted, wayBack } from './way-back.js';

/** One call on its way through the registry: the steps, its place, the tool, and the way back. */
export class RunningCall implements Watched, Waiting {
  deadline = 0;
  before: Watched | undefined;
  after: Watched | undefined;
  readonly #state: CallState;

  /** @param index the place of the call in the batch */
  constructor(batch: Batch, index: number) {
    this.#state = new CallState(batch, index);
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
    // The call may have waited for its record and its place since the gates let it pass.
    const refused = refuseIfChanged(state);
    if (refused !== undefined) {
      state.batch.slots.release();
      this.#finish(refused);
      return;
    }
    state.ran = true;
    if (state.batch.isHeard) state.startedAt = performance.now();
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
    if (checked instanceof Promise)
      void checked.then((judged) => tellAnswer(this.#state, judged, hasRead));
    else tellAnswer(this.#state, checked, hasRead);
  }

  #finish(result: ToolResult): void {
    tellAnswer(this.#state, fitted(this.#state, result), false);
  }
}

import { setMaxListeners } from 'node:events';
import { callListener } from '@ethosagent/policy';
import type { ToolCallResult } from '@ethosagent/types';
import type { CallJournal } from '../call-scope.js';
import { joinedRedactors } from '../results/redact.js';
import type { CallFacts } from '../turn-host.js';
import type { Batch, BatchInput } from './batch.js';
import { type BatchFacts, batchFacts } from './call-context.js';
import { RunningCall } from './running-call.js';
import { Slots } from './slots.js';
import { Watch } from './watch.js';

/** Runs the calls of a batch. The results are in the order of the calls; nothing throws. */
export function runBatch(input: BatchInput): Promise<ToolCallResult[]> {
  return new Promise((resolve) => new RunningBatch(input, resolve).start());
}

/**
 * A batch while its calls run. It has one promise and a count. A promise for each call would cost
 * as much as everything else in a short call.
 */
class RunningBatch implements Batch {
  readonly input: BatchInput;
  readonly facts: BatchFacts;
  readonly watch: Watch;
  readonly slots: Slots;
  readonly journal: CallJournal;
  readonly isHeard: boolean;
  readonly #results: ToolCallResult[];
  readonly #resolve: (results: ToolCallResult[]) => void;
  readonly #leaveSession: (() => void) | undefined;
  #pending: number;

  constructor(input: BatchInput, resolve: (results: ToolCallResult[]) => void) {
    const { calls, ctx, backends, options, host, hooks } = input;
    const facts = batchFacts(ctx);
    const audit = backends?.audit;
    this.input = input;
    this.facts = facts;
    this.watch = new Watch(ctx.abortSignal);
    this.slots = new Slots(Math.max(1, Math.floor(options.maxConcurrency) || 1));
    this.journal = {
      sessionId: facts.sessionId,
      personalityId: facts.personalityId,
      audit,
      now: options.now,
      turn: this.watch,
      assertOwned: host?.assertOwned,
      secrets: () => joinedRedactors(input.services.secretsOf(facts), host?.secrets),
    };
    this.#leaveSession =
      host?.assertOwned && input.services.owners.enter(facts.sessionId, host.assertOwned);
    this.isHeard =
      host?.onResult !== undefined || hooks.afterCall !== undefined || audit !== undefined;
    this.#results = new Array<ToolCallResult>(calls.length);
    this.#resolve = resolve;
    this.#pending = calls.length;
  }

  start(): void {
    const { length } = this.#results;
    // Every request of every call may add a listener, and Node warns of a leak from the eleventh
    // on.
    const { abortSignal } = this.facts;
    if (abortSignal instanceof AbortSignal) setMaxListeners(0, abortSignal);
    if (length === 0) this.#finish();
    for (let index = 0; index < length; index++) new RunningCall(this, index).start();
  }

  answer(index: number, answer: ToolCallResult, facts?: CallFacts): void {
    this.#results[index] = answer;
    const { host } = this.input;
    if (host?.onResult !== undefined) callListener(() => host.onResult?.(answer, facts));
    this.#pending -= 1;
    if (this.#pending === 0) this.#finish();
  }

  #finish(): void {
    this.watch.close();
    this.#leaveSession?.();
    this.#resolve(this.#results);
  }
}

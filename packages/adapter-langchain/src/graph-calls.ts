import type { SessionBatchOptions, SessionResult, ToolSession } from '@ethosagent/core';
import type { ToolCall } from '@ethosagent/types';
import { Approvals } from './approvals.js';
import { ranBefore, runOnce } from './graph-runs.js';
import type { GraphTask } from './graph-task.js';

/** How often a call is asked about anew while it is under way. */
const MAX_ROUNDS = 4;

export interface GraphCallsOptions {
  session: ToolSession;
  /** The names of the tools whose calls are asked about together. */
  names: ReadonlySet<string>;
  /** Whether graphs are interrupted for what must be approved. */
  interrupts: boolean;
  by: string | undefined;
}

/** The calls of a session in the nodes of graphs. */
export class GraphCalls {
  readonly #session: ToolSession;
  readonly #names: ReadonlySet<string>;
  readonly #interrupts: boolean;
  readonly #approvals: Approvals;
  readonly #settled = new WeakMap<object, Map<string, Promise<boolean>>>();

  constructor({ session, names, interrupts, by }: GraphCallsOptions) {
    this.#session = session;
    this.#names = names;
    this.#interrupts = interrupts;
    this.#approvals = new Approvals(session, by);
  }

  /**
   * Runs a call, once all calls of its node are decided on: what runs before the node is interrupted
   * would run again with it.
   *
   * @throws what LangGraph interrupts a node with
   */
  async run(task: GraphTask, call: ToolCall, options: SessionBatchOptions): Promise<SessionResult> {
    const { id: sessionId } = this.#session;
    const execute = () =>
      runOnce(task, { sessionId, call }, () => executeOne(this.#session, { call, options }));
    if (ranBefore(task, { sessionId, call })) return execute();
    const isAsked = this.#interrupts && (await this.#settle(task, call));
    for (let round = 1; ; round++) {
      const answer = await execute();
      if (answer.approval === undefined || !isAsked || round === MAX_ROUNDS) return answer;
      // What another call of the step read has led to a question.
      if (!(await this.#approvals.settle([call]))) return answer;
    }
  }

  /** The calls of a node settle together, whichever of them comes first. */
  #settle(task: GraphTask, call: ToolCall): Promise<boolean> {
    const ofRun = this.#settled.get(task.run) ?? new Map<string, Promise<boolean>>();
    this.#settled.set(task.run, ofRun);
    const { id: sessionId } = this.#session;
    const together = task.calls.filter(
      (each) => this.#names.has(each.name) && !ranBefore(task, { sessionId, call: each }),
    );
    const isAmong = together.some(({ toolCallId }) => toolCallId === call.toolCallId);
    if (!isAmong) return this.#approvals.settle([call]);
    const settled = ofRun.get(task.id) ?? this.#approvals.settle(together);
    ofRun.set(task.id, settled);
    return settled;
  }
}

/** Runs a call by itself. */
export async function executeOne(
  session: ToolSession,
  { call, options }: { call: ToolCall; options: SessionBatchOptions },
): Promise<SessionResult> {
  const [answer] = await session.execute([call], options);
  if (answer === undefined) throw new TypeError(`${call.name} gave no result`);
  return answer;
}

import type { SessionBatchOptions, SessionResult, ToolSession } from '@ethosagent/core';
import type { ToolCall } from '@ethosagent/types';
import { Approvals } from './approvals.js';
import { ranBefore, runOnce } from './graph-runs.js';
import type { GraphTask } from './graph-task.js';

/** How often a running call may ask a new question. */
const MAX_ROUNDS = 4;

export interface GraphCallsOptions {
  session: ToolSession;
  /** The names of the tools whose calls are decided together. */
  names: ReadonlySet<string>;
  /** Whether graphs are interrupted for approvals. */
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
   * Runs a call after all calls of its node are decided. A call that ran before an interrupt of the
   * node would run again with the node.
   *
   * @throws the interrupt of LangGraph
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
      // The question came up because another call of the step has read something.
      if (!(await this.#approvals.settle([call]))) return answer;
    }
  }

  /** Gets the decisions on all calls of a node. The first call of the node starts this. */
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

export async function executeOne(
  session: ToolSession,
  { call, options }: { call: ToolCall; options: SessionBatchOptions },
): Promise<SessionResult> {
  const [answer] = await session.execute([call], options);
  if (answer === undefined) throw new TypeError(`${call.name} gave no result`);
  return answer;
}

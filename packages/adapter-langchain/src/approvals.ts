import type { PendingApproval, ToolSession } from '@ethosagent/core';
import { errorText } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import { type ToolAnswer, type ToolInterrupt, toolAnswerOf } from './tool-interrupt.js';

/** Passes the questions of a session to the caller of the graph, and the answers back. */
export class Approvals {
  readonly #session: ToolSession;
  readonly #by: { by?: string };

  constructor(session: ToolSession, by: string | undefined) {
    this.#session = session;
    this.#by = by === undefined ? {} : { by };
  }

  /**
   * Gets decisions on the calls that need approval. It interrupts the node for the first undecided
   * one. The node then runs again from its start.
   *
   * @returns `false` if nothing can be interrupted: outside a graph, or without a checkpointer
   * @throws the interrupt of LangGraph
   */
  async settle(calls: readonly ToolCall[]): Promise<boolean> {
    const first = await this.#open(calls);
    if (first === undefined) return true;
    const answers = answersOfNode(first);
    if (answers === undefined) return false;
    const problem = await this.#take(answers);
    const next = await this.#open(calls);
    if (next !== undefined) interrupt(asInterrupt(next, problem));
    return true;
  }

  /** Returns the first call that needs a decision. */
  async #open(calls: readonly ToolCall[]): Promise<PendingApproval | undefined> {
    for (const call of calls) {
      const check = await this.#session.check(call);
      if (check.kind === 'asks') return check.approval;
    }
    return undefined;
  }

  /**
   * Passes the answers to the session.
   * @returns why the last answer does not count; `undefined` if it counts
   */
  async #take(values: readonly unknown[]): Promise<string | undefined> {
    const answers = values.map(toolAnswerOf);
    // The last answer to a question counts.
    const last = new Map<string, ToolAnswer>();
    for (const answer of answers) if (answer !== undefined) last.set(answer.question, answer);
    const problems = new Map<string, string>();
    for (const { toolCallId, question, decision } of await this.#session.pending()) {
      const answer = last.get(question);
      if (answer === undefined || decision !== undefined) continue;
      const { question: _, ...said } = answer;
      try {
        await this.#session.decide({ toolCallId, question }, { ...this.#by, ...said });
      } catch (error) {
        problems.set(question, errorText(error));
      }
    }
    if (values.length === 0) return undefined;
    const latest = answers.at(-1);
    return latest === undefined
      ? 'the run was resumed with no answer; give `question`, as the interrupt has it, and `approved`'
      : problems.get(latest.question);
  }
}

/**
 * Returns all values with which the node was resumed. LangGraph returns them one by one, and
 * interrupts the node when none is left.
 */
function answersOfNode(asked: PendingApproval): unknown[] | undefined {
  const values: unknown[] = [];
  try {
    for (;;) values.push(interrupt(asInterrupt(asked)));
  } catch (error) {
    return isGraphInterrupt(error) ? values : undefined;
  }
}

function asInterrupt(approval: PendingApproval, problem?: string): ToolInterrupt {
  return { ...approval, type: 'tool_approval', ...(problem !== undefined && { problem }) };
}

import type { PendingApproval, ToolSession } from '@ethosagent/core';
import { errorText } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import { type ToolAnswer, type ToolInterrupt, toolAnswerOf } from './tool-interrupt.js';

/** Carries what a session asks to whoever runs the graph, and the answers back. */
export class Approvals {
  readonly #session: ToolSession;
  readonly #by: { by?: string };

  constructor(session: ToolSession, by: string | undefined) {
    this.#session = session;
    this.#by = by === undefined ? {} : { by };
  }

  /**
   * Has the calls decided on that must be approved. It interrupts the node for the first of them
   * that nobody has answered; the node then runs again from its start.
   *
   * @returns `false` where nothing can be interrupted: outside a graph, or without a checkpointer
   * @throws what LangGraph interrupts a node with
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

  /** The first call that nobody has decided on. */
  async #open(calls: readonly ToolCall[]): Promise<PendingApproval | undefined> {
    for (const call of calls) {
      const check = await this.#session.check(call);
      if (check.kind === 'asks') return check.approval;
    }
    return undefined;
  }

  /** Takes the answers to the session. @returns why the last one does not count, if it does not */
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
      ? 'the run was resumed with no answer: it has `question`, as the interrupt has it, and `approved`'
      : problems.get(latest.question);
  }
}

/**
 * All that the node was resumed with. LangGraph gives it value by value, and interrupts where there
 * is none left.
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

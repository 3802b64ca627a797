import { EthosError, type SessionInfo } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { grantScopes } from '../grant-scopes.js';
import { isUndecided } from '../named-call.js';
import {
  findWaitingCalls,
  findWaitingCallsIn,
  hasBegun,
  newestSessions,
  type WaitingCall,
} from '../waiting-calls.js';
import type { Decision, Removal, UnfinishedRow, WaitingList, WaitingRow } from './inspect-api.js';

/**
 * The calls of all sessions of a home that wait, or have begun and no end is recorded. They are read
 * again for each list.
 */
export class WaitingApprovals {
  readonly #runtime: ToolRuntime;
  readonly #by: string;
  /** The waiting calls of each session, together with the session's state at that time. */
  readonly #known = new Map<string, { state: string; list: WaitingList }>();

  /** @param by who decides, for the record */
  constructor(runtime: ToolRuntime, by: string) {
    this.#runtime = runtime;
    this.#by = by;
  }

  /** The calls, the oldest first, and the sessions that can't be read. */
  async list(): Promise<WaitingList> {
    const { sessions, problems } = await newestSessions(this.#runtime);
    const ids = new Set(sessions.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const lists: WaitingList[] = [];
    for (const info of sessions) {
      const state = `${info.messageCount} ${info.lastMessageAt}`;
      let known = this.#known.get(info.id);
      if (known?.state !== state) {
        known = { state, list: await this.#read(info) };
        this.#known.set(info.id, known);
      }
      lists.push(known.list);
    }
    return {
      waiting: lists
        .flatMap(({ waiting }) => waiting)
        .sort((a, b) => a.approval.askedAt - b.approval.askedAt),
      unfinished: lists
        .flatMap(({ unfinished }) => unfinished)
        .sort((a, b) => a.begunAt - b.begunAt),
      problems: [...problems, ...lists.flatMap((list) => list.problems)],
    };
  }

  /**
   * Decides on a call that somebody has seen.
   * @throws `APPROVAL_INVALID` if it now asks for something else; as `ToolSession.decide` and
   * `AgentLoop.decide`
   */
  async decide({ sessionId, from, toolCallId, question, ...said }: Decision): Promise<void> {
    const call = await this.#find({ sessionId, toolCallId, question });
    if (call?.from !== from) {
      throw new EthosError(
        'APPROVAL_INVALID',
        `no call ${toolCallId} of the session waits for this decision: it was decided, it ended, or it asks for something else now. Load the page again.`,
      );
    }
    await call.decide({ ...said, by: this.#by });
  }

  /**
   * Removes an unfinished call from the list. Nothing happens if it is no longer there, or waits.
   * @throws as `ToolSession.withdraw`
   */
  async remove(removal: Removal): Promise<void> {
    const call = await this.#find(removal);
    if (call !== undefined && hasBegun(call)) await call.withdraw();
  }

  async #find({ sessionId, toolCallId, question }: Removal): Promise<WaitingCall | undefined> {
    const { calls } = await findWaitingCalls(this.#runtime);
    return calls.find(
      (each) =>
        each.sessionId === sessionId &&
        each.approval.toolCallId === toolCallId &&
        each.approval.question === question,
    );
  }

  async #read(info: SessionInfo): Promise<WaitingList> {
    const { calls, problems } = await findWaitingCallsIn(info, this.#runtime);
    const personalityOf = ({ approval }: WaitingCall) =>
      approval.personalityId ?? info.personalityId ?? this.#runtime.personalityId;
    const unfinished = calls.filter(hasBegun).map((call): UnfinishedRow => {
      const { sessionId, approval, begunAt } = call;
      return { sessionId, personalityId: personalityOf(call), approval, begunAt };
    });
    const waiting = calls.filter(isUndecided).map(async (call): Promise<WaitingRow> => {
      const { sessionId, from, approval, sources } = call;
      const personalityId = personalityOf(call);
      return {
        sessionId,
        from,
        personalityId,
        approval,
        sources: [...sources],
        always: await grantScopes(this.#runtime, personalityId),
      };
    });
    return { waiting: await Promise.all(waiting), unfinished, problems };
  }
}

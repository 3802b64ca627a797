import {
  type CallDecision,
  type PendingApproval,
  SessionLedgers,
  sessionOfLedger,
  type ToolSession,
  type UntrustedSource,
  withProblems,
} from '@ethosagent/core';
import { errorCodeOf, type SessionInfo } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { messageOf } from './cli-error.js';
import { ownerOf } from './owner-of.js';

const MAX_SESSIONS = 10_000;

/** A call that a person was asked about, and that has not run, or may have. */
export interface WaitingCall {
  sessionId: string;
  /** `session`: a call of `runtime.session`. `agent`: a call in a turn of the agent loop. */
  from: 'session' | 'agent';
  approval: PendingApproval;
  /** When the call began, if its end is not recorded: it runs, or may have run. */
  begunAt?: number;
  /** The untrusted content that was known when the person was asked. */
  sources: readonly UntrustedSource[];
  /** @throws as `ToolSession.decide` */
  decide(decision: CallDecision): Promise<void>;
  /** Withdraws the call. Returns whether it was still waiting. */
  withdraw(): Promise<boolean>;
  /** The session that can run the call; absent if it belongs to an agent's turn. */
  session?: ToolSession;
}

/** A call that has begun, and whose end is not recorded. */
export type BegunCall = WaitingCall & { begunAt: number };

export const hasBegun = (call: WaitingCall): call is BegunCall => call.begunAt !== undefined;

export interface WaitingCalls {
  /**
   * The oldest question first. Includes calls that are decided and have not run yet, and those that
   * have begun and whose end is not recorded.
   */
  calls: WaitingCall[];
  /** The sessions that can't be read, and why. Calls may wait in them. */
  problems: string[];
}

/** The waiting calls of all sessions of a home, whoever runs them. */
export async function findWaitingCalls(runtime: ToolRuntime): Promise<WaitingCalls> {
  const { sessions, problems } = await newestSessions(runtime);
  const found: WaitingCalls = { calls: [], problems };
  for (const info of sessions) {
    const { calls, problems } = await findWaitingCallsIn(info, runtime);
    found.calls.push(...calls);
    found.problems.push(...problems);
  }
  found.calls.sort((a, b) => a.approval.askedAt - b.approval.askedAt);
  return found;
}

/** The sessions in which calls are looked for, and a problem if there may be more. */
export async function newestSessions(
  runtime: ToolRuntime,
): Promise<{ sessions: SessionInfo[]; problems: string[] }> {
  const sessions = await runtime.sessions.list({ limit: MAX_SESSIONS });
  const isCut = sessions.length === MAX_SESSIONS;
  const problems = isCut ? [`only the newest ${MAX_SESSIONS} sessions were looked at`] : [];
  return { sessions, problems };
}

/** The waiting calls of one session, or of the session whose protections it stores. */
export async function findWaitingCallsIn(
  info: SessionInfo,
  runtime: ToolRuntime,
): Promise<WaitingCalls> {
  // If one session can't be read, the others are still listed.
  try {
    const held = sessionOfLedger(info.id);
    const calls = held === undefined ? [] : await inLedger(held, info, runtime);
    return { calls, problems: [] };
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return { calls: [], problems: [`${info.id}: ${messageOf(error)}`] };
  }
}

async function inLedger(
  sessionId: string,
  info: SessionInfo,
  runtime: ToolRuntime,
): Promise<WaitingCall[]> {
  const owner = ownerOf(info);
  // Opened separately: the runtime's own ledger would stay in use after the session was deleted.
  const ledger = new SessionLedgers(runtime.sessions).ofSession(sessionId, owner);
  await ledger.refresh();
  const { waiting, unfinished } = ledger;
  const approvals = await withProblems(
    waiting.map(({ approval }) => approval),
    runtime,
  );
  if (approvals.length + unfinished.length === 0) return [];
  // A turn runs with the memory scope of its stored messages.
  const messages = await runtime.sessions.get(sessionId);
  const identity = { ...owner, ...(messages !== null && { memoryScopeId: messages.scopeId }) };
  const callOf = (approval: PendingApproval, sources: readonly UntrustedSource[]): WaitingCall => {
    const { personalityId: personality, turn } = approval;
    const session = runtime.session(sessionId, {
      identity: turn === undefined ? owner : identity,
      ...(personality !== undefined && { personality }),
    });
    return {
      sessionId,
      from: turn === undefined ? 'session' : 'agent',
      approval,
      sources,
      ...(turn === undefined && { session }),
      decide: (decision) => session.decide(approval, decision),
      withdraw: () => session.withdraw(approval),
    };
  };
  return [
    ...approvals.map((approval, index) => callOf(approval, waiting[index]?.sources ?? [])),
    ...unfinished.map(({ begunAt, ...approval }) => ({ ...callOf(approval, []), begunAt })),
  ];
}

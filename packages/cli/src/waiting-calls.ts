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

const MAX_SESSIONS = 10_000;

/** A call that was asked about and has not run. */
export interface WaitingCall {
  sessionId: string;
  /** `session`: of `runtime.session`. `agent`: of a turn of the agent loop. */
  from: 'session' | 'agent';
  approval: PendingApproval;
  /** The untrusted content that was known when it was asked. */
  sources: readonly UntrustedSource[];
  /** @throws as `ToolSession.decide` */
  decide(decision: CallDecision): Promise<void>;
  /** Takes it out. Says whether it still waited. */
  withdraw(): Promise<boolean>;
  /** What goes on with it, where no agent loop does. */
  session?: ToolSession;
}

export interface WaitingCalls {
  /** The oldest question first. Those that are decided on, and did not run yet, are among them. */
  calls: WaitingCall[];
  /** The sessions that can not be read, and why: calls may wait in them. */
  problems: string[];
}

/** The calls of all sessions of a home that wait, whoever runs them. */
export async function findWaitingCalls(runtime: ToolRuntime): Promise<WaitingCalls> {
  const found: WaitingCalls = { calls: [], problems: [] };
  const all = await runtime.sessions.list({ limit: MAX_SESSIONS });
  if (all.length === MAX_SESSIONS) {
    found.problems.push(`only the newest ${MAX_SESSIONS} sessions were looked at`);
  }
  for (const info of all) {
    const { calls, problems } = await findWaitingCallsIn(info, runtime);
    found.calls.push(...calls);
    found.problems.push(...problems);
  }
  found.calls.sort((a, b) => a.approval.askedAt - b.approval.askedAt);
  return found;
}

/** Those of one session, or of the one whose protections it holds. */
export async function findWaitingCallsIn(
  info: SessionInfo,
  runtime: ToolRuntime,
): Promise<WaitingCalls> {
  // One session that can not be read hides none of the others.
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
  // Read anew: the runtime would go on with it after the session was deleted.
  const ledger = new SessionLedgers(runtime.sessions).ofSession(sessionId, owner);
  await ledger.refresh();
  const approvals = await withProblems(
    ledger.waiting.map(({ approval }) => approval),
    runtime,
  );
  if (approvals.length === 0) return [];
  // A turn runs with the memory that its messages are stored under.
  const messages = await runtime.sessions.get(sessionId);
  const identity = { ...owner, ...(messages !== null && { memoryScopeId: messages.scopeId }) };
  return approvals.map((approval, index) => {
    const sources = ledger.waiting[index]?.sources ?? [];
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
  });
}

function ownerOf({ userScopeId, teamId }: SessionInfo) {
  return {
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
  };
}

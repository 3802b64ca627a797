import {
  type CallDecision,
  isLedgerSession,
  type PendingApproval,
  SessionLedgers,
  sessionOfLedger,
  type ToolSession,
  type UntrustedSource,
  withProblems,
} from '@ethosagent/core';
import { isObject } from '@ethosagent/policy';
import { errorCodeOf, type SessionInfo } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { createScriptedModel } from './agent/scripted-model.js';
import { messageOf, usageError } from './cli-error.js';

const MAX_SESSIONS = 10_000;

/** A call that was asked about and has not run. */
export interface WaitingCall {
  sessionId: string;
  /** `session`: of `runtime.session`. `agent`: of a turn of the agent loop. */
  from: 'session' | 'agent';
  approval: PendingApproval;
  /** The untrusted content that was known when it was asked, where that is stored beside the call. */
  sources: readonly UntrustedSource[];
  /** @throws as `ToolSession.decide` and `AgentLoop.decide` */
  decide(decision: CallDecision): Promise<void>;
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
    if (held !== undefined) return { calls: await inLedger(held, info, runtime), problems: [] };
    if (isLedgerSession(info.id)) return { calls: [], problems: [] };
    return { calls: await inTurn(info, runtime), problems: [] };
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
  return approvals.map((approval, index) => {
    const sources = ledger.waiting[index]?.sources ?? [];
    const { personalityId: personality } = approval;
    const session = runtime.session(sessionId, {
      identity: owner,
      ...(personality !== undefined && { personality }),
    });
    return {
      sessionId,
      from: 'session',
      approval,
      sources,
      session,
      decide: (decision) => session.decide(approval, decision),
    };
  });
}

/** The calls of a turn that is not over. One that is ends with its end. */
async function inTurn(info: SessionInfo, runtime: ToolRuntime): Promise<WaitingCall[]> {
  const { id: sessionId, messageCount } = info;
  const [last] = await runtime.sessions.messages(sessionId, {
    afterSequence: Math.max(0, messageCount - 1),
  });
  const data = last?.data;
  if (!isObject(data) || typeof data.kind !== 'string' || data.kind === 'end') return [];
  const loop = await loopOf(info, runtime);
  return (await loop.pending(sessionId)).map((approval) => ({
    sessionId,
    from: 'agent',
    approval,
    sources: [],
    decide: (decision) => loop.decide(sessionId, approval, decision),
  }));
}

/** A loop for the owner of a session. It decides, and asks no model. */
async function loopOf(info: SessionInfo, runtime: ToolRuntime) {
  const { AgentLoop } = await import('@ethosagent/agent-loop').catch((error: unknown) => {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usageError(
      'its turn can not be read: run "npm install @ethosagent/agent-loop ai" in the project',
    );
  });
  const { personalityId: personality, scopeId: memoryScopeId } = info;
  return new AgentLoop({
    model: createScriptedModel(),
    tools: runtime,
    sessions: runtime.sessions,
    identity: { ...ownerOf(info), memoryScopeId },
    ...(personality !== undefined && { personality }),
  });
}

function ownerOf({ userScopeId, teamId }: SessionInfo) {
  return {
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
  };
}

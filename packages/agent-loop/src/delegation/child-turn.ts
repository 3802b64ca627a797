import type { ApprovalDecision, ApprovalRequest, UntrustedSource } from '@ethosagent/core';
import type { SessionRef } from '@ethosagent/types';
import type {
  AgentEvent,
  AgentIdentity,
  AgentLimits,
  AgentTools,
  AgentUsage,
  TurnClaim,
} from '../api.js';

/** Sub-agents that the turn at the top has begun, all levels together. */
export interface Begun {
  count: number;
  /** Writes down that one has begun. @throws as a store does */
  note(): Promise<void>;
}

/** Whose sub-agent an agent is, for those below it. */
export interface DelegationPlace {
  /** 0 for the agent at the top. */
  depth: number;
  begun: Begun;
  /** The session of the agent at the top, whose grants may be inherited. */
  grantsOf: string;
  /** Who holds the session of the agent at the top: its sub-agents act only while it holds. */
  claim: Pick<TurnClaim, 'assertHeld'> | undefined;
}

/** A turn that may delegate. */
export interface DelegatingTurn extends DelegationPlace {
  /** Its session, as it is stored, with its owner. */
  ref: SessionRef;
  /** The personality that it runs under. */
  personalityId: string;
  /** The tools of its agent, and no others. */
  tools: AgentTools;
  /** With the memory scope spelled out: a sub-agent works for the same owner. */
  identity: AgentIdentity;
  /** Of the agent: a sub-agent gets no more. */
  limits: AgentLimits;
  /** What the turn may still use; what is absent has no limit. */
  remaining(): { tokens?: number; costUsd?: number; ms?: number };
  /** Counts what a sub-agent used as the turn's own. */
  charge(usage: AgentUsage): void;
  /** The untrusted content that was read. */
  sources(): readonly UntrustedSource[];
}

/** The one turn of a sub-agent. */
export interface ChildTurn extends DelegationPlace {
  sessionId: string;
  /** For people: whose sub-agent it is. */
  sessionKey: string;
  personalityId: string;
  prompt: string;
  tools: AgentTools;
  identity: AgentIdentity;
  limits: AgentLimits;
  /** What it was told may come from untrusted content. */
  isTainted: boolean;
  /** Never answers `'later'`: nobody could go on with a sub-agent that waits. */
  approve: (request: ApprovalRequest) => Promise<ApprovalDecision>;
  abortSignal: AbortSignal;
}

/** Runs a sub-agent. It ends as a turn does, with `done`. */
export type RunChild = (child: ChildTurn) => AsyncIterable<AgentEvent>;

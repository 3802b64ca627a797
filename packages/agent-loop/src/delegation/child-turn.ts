import type { ApprovalDecision, ApprovalRequest, UntrustedSource } from '@ethosagent/core';
import type { SessionRef, TurnAttachment } from '@ethosagent/types';
import type {
  AgentEvent,
  AgentIdentity,
  AgentLimits,
  AgentTools,
  AgentUsage,
  TurnClaim,
} from '../api.js';

/** The sub-agents that the turn at the top has begun, on all levels together. */
export interface Begun {
  count: number;
  /** Records that one has begun. @throws as a store does */
  note(): Promise<void>;
}

/** The place of an agent among sub-agents, as those below it see it. */
export interface DelegationPlace {
  /** 0 for the agent at the top. */
  depth: number;
  begun: Begun;
  /** The session of the agent at the top. Sub-agents may use its grants. */
  grantsOf: string;
  /** The claim on the session of the agent at the top. Sub-agents may act only while it is held. */
  claim: Pick<TurnClaim, 'assertHeld'> | undefined;
}

/** A turn that may delegate. */
export interface DelegatingTurn extends DelegationPlace {
  /** Its session as it is stored, with its owner. */
  ref: SessionRef;
  personalityId: string;
  /** The tools of its agent, and no others. */
  tools: AgentTools;
  /** Includes the memory scope: a sub-agent works for the same owner. */
  identity: AgentIdentity;
  /** The limits of the agent. A sub-agent gets no more. */
  limits: AgentLimits;
  /** What the turn may still use; without a value there is no limit. */
  remaining(): { tokens?: number; costUsd?: number; ms?: number };
  /** Counts what a sub-agent used as used by the turn. */
  charge(usage: AgentUsage): Promise<void>;
  /** Counts a call that is about to run for a reader. @throws `TURN_LIMIT`, or as a store does */
  beginRead(): Promise<void>;
  /** Counts what such a call cost, in US dollars. */
  paid(costUsd: number): void;
  /** The files that came with the turn. Calls for a reader may read them. */
  attachments: readonly TurnAttachment[];
  /** The untrusted content that the turn has read. */
  sources(): readonly UntrustedSource[];
}

export interface ChildTurn extends DelegationPlace {
  sessionId: string;
  /** For people: shows whose sub-agent it is. */
  sessionKey: string;
  personalityId: string;
  prompt: string;
  tools: AgentTools;
  identity: AgentIdentity;
  limits: AgentLimits;
  /** Its task may contain untrusted content. */
  isTainted: boolean;
  /** Never answers `'later'`: nobody could resume a sub-agent that waits. */
  approve: (request: ApprovalRequest) => Promise<ApprovalDecision>;
  abortSignal: AbortSignal;
}

/** Runs a sub-agent. Its events end with `done`, as those of a turn do. */
export type RunChild = (child: ChildTurn) => AsyncIterable<AgentEvent>;

import type {
  NetworkPolicy,
  Storage,
  ToolBatchContext,
  ToolContext,
  ToolProgressEvent,
} from '@ethosagent/types';
import { deepFreeze } from '../plain.js';

/** The part of a batch's context that is copied for every call. */
export type BatchFacts = Omit<ToolBatchContext, 'emit' | 'resultBudgetChars' | 'toolCallId'>;

// The signal for a host that gives none.
const NEVER = new AbortController().signal;

/** Takes the known fields of a batch's context. Fields that a caller added to it are left out. */
export function batchFacts(ctx: ToolBatchContext): BatchFacts {
  const policy = ctx.networkPolicy;
  return {
    sessionId: ctx.sessionId,
    sessionKey: ctx.sessionKey,
    platform: ctx.platform,
    workingDir: ctx.workingDir,
    currentTurn: ctx.currentTurn,
    messageCount: ctx.messageCount,
    abortSignal: ctx.abortSignal ?? NEVER,
    ...(ctx.agentId !== undefined && { agentId: ctx.agentId }),
    ...(ctx.personalityId !== undefined && { personalityId: ctx.personalityId }),
    ...(ctx.memoryScope !== undefined && { memoryScope: ctx.memoryScope }),
    ...(ctx.memoryScopeId !== undefined && { memoryScopeId: ctx.memoryScopeId }),
    ...(ctx.userScopeId !== undefined && { userScopeId: ctx.userScopeId }),
    ...(ctx.teamId !== undefined && { teamId: ctx.teamId }),
    ...(ctx.storage !== undefined && { storage: ctx.storage }),
    ...(ctx.readMtimes !== undefined && { readMtimes: ctx.readMtimes }),
    // The calls of the batch share this object, so it is frozen.
    ...(policy !== undefined && { networkPolicy: freezeCopy(policy) }),
    ...(ctx.dryRun !== undefined && { dryRun: ctx.dryRun }),
  };
}

function freezeCopy(policy: NetworkPolicy): NetworkPolicy {
  const copy = structuredClone(policy);
  deepFreeze(copy);
  return copy;
}

/** What a call adds to the facts of its batch. */
export interface CallParts {
  toolCallId: string;
  idempotencyKey: string | undefined;
  emit: (event: ToolProgressEvent) => void;
  resultBudgetChars: number;
  settings: unknown;
}

/**
 * The context of one call. All properties are its own, so that a tool may spread it. The accessors,
 * the storage and the read registry of the turn are bound to it.
 */
export class CallContext implements ToolContext {
  sessionId: string;
  declare toolCallId?: string;
  declare idempotencyKey?: string;
  sessionKey: string;
  platform: string;
  workingDir: string;
  currentTurn: number;
  messageCount: number;
  emit: (event: ToolProgressEvent) => void;
  resultBudgetChars: number;
  abortSignal: AbortSignal;
  declare agentId?: string;
  declare personalityId?: string;
  declare memoryScope?: 'global' | 'per-personality';
  declare memoryScopeId?: string;
  declare userScopeId?: string;
  declare teamId?: string;
  declare networkPolicy?: NetworkPolicy;
  declare settings?: unknown;
  declare storage?: Storage;
  declare readMtimes?: NonNullable<ToolContext['readMtimes']>;
  declare dryRun?: boolean;

  constructor(facts: BatchFacts, parts: CallParts) {
    this.sessionId = facts.sessionId;
    if (typeof parts.toolCallId === 'string') this.toolCallId = parts.toolCallId;
    if (parts.idempotencyKey !== undefined) this.idempotencyKey = parts.idempotencyKey;
    this.sessionKey = facts.sessionKey;
    this.platform = facts.platform;
    this.workingDir = facts.workingDir;
    this.currentTurn = facts.currentTurn;
    this.messageCount = facts.messageCount;
    this.emit = parts.emit;
    this.resultBudgetChars = parts.resultBudgetChars;
    this.abortSignal = facts.abortSignal;
    if (facts.agentId !== undefined) this.agentId = facts.agentId;
    if (facts.personalityId !== undefined) this.personalityId = facts.personalityId;
    if (facts.memoryScope !== undefined) this.memoryScope = facts.memoryScope;
    if (facts.memoryScopeId !== undefined) this.memoryScopeId = facts.memoryScopeId;
    if (facts.userScopeId !== undefined) this.userScopeId = facts.userScopeId;
    if (facts.teamId !== undefined) this.teamId = facts.teamId;
    if (facts.networkPolicy !== undefined) this.networkPolicy = facts.networkPolicy;
    if (facts.dryRun !== undefined) this.dryRun = facts.dryRun;
    if (parts.settings !== undefined) this.settings = parts.settings;
  }
}

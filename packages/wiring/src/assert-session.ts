import {
  assertBatchValues,
  assertIdentity,
  isLedgerSession,
  type SessionLimits,
} from '@ethosagent/core';
import { ABOVE_ZERO, assertNumbers, assertOptions, type OptionNames } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { ExecuteOptions, SessionOptions } from './runtime-api.js';

const LIMITS: OptionNames<SessionLimits> = {
  maxCalls: true,
  maxCostUsd: true,
  resultBudgetChars: true,
};
const OPTIONS: OptionNames<SessionOptions> = {
  personality: true,
  approve: true,
  identity: true,
  limits: true,
  images: true,
};

const EXECUTE_OPTIONS: OptionNames<ExecuteOptions> = {
  personality: true,
  sessionId: true,
  sessionKey: true,
  platform: true,
  agentId: true,
  memoryScope: true,
  memoryScopeId: true,
  userScopeId: true,
  teamId: true,
  currentTurn: true,
  messageCount: true,
  abortSignal: true,
  resultBudgetChars: true,
  emit: true,
  attachments: true,
  dryRun: true,
  tools: true,
  host: true,
  protections: true,
};

/**
 * Refuses unknown options, since a misspelt option would protect nothing. @throws `CONFIG_INVALID`
 */
export function assertSession(id: unknown, options: SessionOptions): void {
  assertSessionId(id);
  assertOptions('session', options, OPTIONS);
  const { personality, approve, identity = {}, limits = {} } = options;
  assertBatchValues('session', { personality });
  assertApprove(approve);
  assertIdentity(identity);
  assertOptions('limits', limits, LIMITS);
  assertNumbers('limits.', limits, ABOVE_ZERO);
}

/** @throws `CONFIG_INVALID` */
export function assertApprove(approve: unknown): void {
  if (approve === undefined || typeof approve === 'function') return;
  throw invalid('approve is not a function; give one that decides, or leave it out');
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}

/** @throws `CONFIG_INVALID` */
export function assertExecute(options: ExecuteOptions): void {
  assertOptions('options of execute', options, EXECUTE_OPTIONS);
  assertBatchValues('options of execute', options);
  if (options.sessionId !== undefined) assertSessionId(options.sessionId);
}

/** @throws `CONFIG_INVALID` */
export function assertSessionId(id: unknown): asserts id is string {
  if (typeof id === 'string' && id !== '' && id.isWellFormed() && !isLedgerSession(id)) return;
  const shown = typeof id === 'string' ? JSON.stringify(id) : `of type ${typeof id}`;
  throw invalid(`the session id ${shown} can not be one; give another text`);
}

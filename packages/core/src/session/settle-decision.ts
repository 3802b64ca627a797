import { randomUUID } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';
import {
  type AnyTool,
  EthosError,
  type PersonalityConfig,
  type ToolCall,
  type ToolResult,
} from '@ethosagent/types';
import type { CheckedCall } from './check-call.js';
import { mayGrant } from './grants.js';
import { toolDigest } from './question.js';
import type {
  CallDecision,
  PendingApproval,
  SessionGrant,
  UntrustedSource,
} from './session-api.js';

/** A decision as it is written down. */
export interface SettledDecision {
  approved: boolean;
  reason?: string;
  args?: unknown;
  /** The question that is answered, where the yes is to other arguments. */
  runs?: string;
  by?: string;
}

/** What a decision is looked at against. */
export interface DecisionParts {
  personality: PersonalityConfig;
  /** Goes through the gates of the call with other arguments. */
  check: (call: ToolCall) => Promise<CheckedCall>;
}

/**
 * Holds what somebody says to a call to what the personality lets, and other arguments to what the
 * tool takes and the call may reach.
 *
 * @returns the decision, and the call as it was approved
 * @throws as `ToolSession.decide`
 */
export async function settleDecision(
  approval: PendingApproval,
  { approved, reason, args, always, by }: CallDecision,
  { personality, check }: DecisionParts,
): Promise<{ decision: SettledDecision; shown: PendingApproval }> {
  if (typeof approved !== 'boolean') throw invalid('`approved` is neither true nor false');
  if (!approved && (args !== undefined || always !== undefined)) {
    throw invalid('a no has neither `args` nor `always`');
  }
  if (always !== undefined) assertMayGrant(personality, always);
  const said: SettledDecision = {
    approved,
    ...(typeof reason === 'string' && { reason: reason.toWellFormed() }),
    ...(typeof by === 'string' && { by: by.toWellFormed() }),
  };
  if (args === undefined) return { decision: said, shown: approval };
  const { toolCallId, toolName: name } = approval;
  const checked = await check({ toolCallId, name, args });
  if (checked.kind === 'refused') throw refusal(checked.result);
  if (checked.kind === 'runs') return { decision: { ...said, args }, shown: { ...approval, args } };
  const { approval: shown } = checked;
  return { decision: { ...said, args, runs: shown.question }, shown };
}

/** Whether a decision that was made is the one that is to be made. */
export function isSameDecision(made: CallDecision, now: CallDecision): boolean {
  return made.approved === now.approved && canonicalJson(made.args) === canonicalJson(now.args);
}

/** @throws `APPROVAL_INVALID` where the personality does not let it */
export function createGrant(
  approval: PendingApproval,
  { always, by }: CallDecision,
  {
    personality,
    tool,
    sources,
    now,
  }: {
    personality: PersonalityConfig;
    tool: AnyTool | undefined;
    sources: readonly UntrustedSource[];
    now: () => number;
  },
): SessionGrant {
  const scope = assertMayGrant(personality, always);
  const { toolName, args, capabilities, settings } = approval;
  return {
    id: randomUUID(),
    scope,
    toolName,
    tool: toolDigest(tool),
    ...(scope === 'arguments' && { args }),
    capabilities,
    ...(settings !== undefined && { settings }),
    sources: [...sources],
    personalityId: personality.id,
    grantedAt: now(),
    ...(typeof by === 'string' && { by }),
  };
}

export function invalidApproval(problem: string): EthosError {
  return new EthosError('APPROVAL_INVALID', problem);
}

const invalid = invalidApproval;

function assertMayGrant(personality: PersonalityConfig, scope: unknown) {
  if (mayGrant(personality, scope)) return scope;
  throw invalid(
    `safety.approvals.grants of ${personality.id} does not let anybody say always: ${JSON.stringify(scope)}`,
  );
}

function refusal(result: ToolResult): EthosError {
  if (result.ok) return invalid('the call can not run with these arguments');
  return new EthosError(result.cause ?? 'INPUT_INVALID', result.error);
}

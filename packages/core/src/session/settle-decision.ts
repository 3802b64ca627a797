import { randomUUID } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';
import {
  type AnyTool,
  EthosError,
  type GrantScope,
  type PersonalityConfig,
  type ToolCall,
  type ToolResult,
} from '@ethosagent/types';
import { decisionProblem } from '../approval.js';
import type { CheckedCall } from './check-call.js';
import { type GrantOwner, mayGrant } from './grants.js';
import { toolDigest } from './question.js';
import type {
  CallDecision,
  PendingApproval,
  SessionGrant,
  UntrustedSource,
} from './session-api.js';

/** A decision as it is recorded. */
export interface SettledDecision {
  approved: boolean;
  reason?: string;
  args?: unknown;
  always?: GrantScope;
  /** The question that is answered, if the decision approved other arguments. */
  runs?: string;
  by?: string;
}

/** What a decision is compared with. */
export interface DecisionParts {
  personality: PersonalityConfig;
  /** Checks the call with other arguments against its gates. */
  check: (call: ToolCall) => Promise<CheckedCall>;
}

/**
 * Checks a decision on a call. The personality must allow it. If it has other arguments, the tool
 * must accept them and the call must be able to reach what they name.
 *
 * @returns the decision, and the call as it was approved
 * @throws as `ToolSession.decide`
 */
export async function settleDecision(
  approval: PendingApproval,
  said: CallDecision,
  { personality, check }: DecisionParts,
): Promise<{ decision: SettledDecision; shown: PendingApproval }> {
  const given: CallDecision = Object(said);
  const problem = decisionProblem(given);
  if (problem !== undefined) throw invalid(problem);
  const { approved, reason, args, always, by } = given;
  if (!approved && (args !== undefined || always !== undefined)) {
    throw invalid('a no has neither `args` nor `always`');
  }
  if (always !== undefined) assertMayGrant(personality, always);
  const { personalityId = personality.id } = approval;
  if ((always ?? args) !== undefined && personalityId !== personality.id) {
    throw invalid(
      `it was asked under ${personalityId}: \`args\` and \`always\` are to be said there`,
    );
  }
  const settled: SettledDecision = {
    approved,
    ...(typeof reason === 'string' && { reason: reason.toWellFormed() }),
    ...(typeof by === 'string' && { by: by.toWellFormed() }),
    ...(always !== undefined && { always }),
  };
  if (args === undefined) return { decision: settled, shown: approval };
  const { toolCallId, toolName: name } = approval;
  const checked = await check({ toolCallId, name, args });
  if (checked.kind === 'refused') throw refusal(checked.result);
  if (checked.kind === 'runs')
    return { decision: { ...settled, args }, shown: { ...approval, args } };
  const { approval: shown } = checked;
  return { decision: { ...settled, args, runs: shown.question }, shown };
}

/** Whether the decision that was already made is the same as the new one. */
export function isSameDecision(made: CallDecision, now: CallDecision): boolean {
  return (
    made.approved === now.approved &&
    made.always === now.always &&
    canonicalJson(made.args) === canonicalJson(now.args)
  );
}

/** @throws `APPROVAL_INVALID` if the personality does not allow the grant */
export function createGrant(
  approval: PendingApproval,
  { always, by }: CallDecision,
  {
    personality,
    tool,
    sources,
    owner: { userScopeId, teamId },
    now,
  }: {
    personality: PersonalityConfig;
    tool: AnyTool | undefined;
    /** The sources that were known when the person was asked. */
    sources: readonly UntrustedSource[];
    /** The user and the team for whom the session runs. */
    owner: GrantOwner;
    now: () => number;
  },
): SessionGrant {
  const scope = assertMayGrant(personality, always);
  const { toolName, args, capabilities, settings } = approval;
  return {
    id: randomUUID(),
    scope,
    toolName,
    // The tool that was shown, even if another tool has its name now.
    tool: approval.tool ?? toolDigest(tool),
    ...(scope === 'arguments' && { args }),
    capabilities,
    ...(settings !== undefined && { settings }),
    sources: [...sources],
    personalityId: personality.id,
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
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
  const { cause = 'INPUT_INVALID', error } = result;
  // The text of a denial already begins with its code, and the error adds it again.
  const prefix = `${cause}: `;
  return new EthosError(cause, error.startsWith(prefix) ? error.slice(prefix.length) : error);
}

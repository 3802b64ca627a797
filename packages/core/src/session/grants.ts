import { canonicalJson } from '@ethosagent/policy';
import type { AnyTool, ApprovalPolicy, GrantScope, PersonalityConfig } from '@ethosagent/types';
import type { ApprovalRequest } from '../approval.js';
import { toolDigest } from './question.js';
import type { SessionGrant, UntrustedSource } from './session-api.js';

const ALL_SCOPES: readonly GrantScope[] = ['session', 'arguments', 'tool'];

/** What a grant is looked at against. */
export interface AskedCall {
  request: ApprovalRequest;
  tool: AnyTool | undefined;
  personality: PersonalityConfig;
  /** The untrusted content that the session has read. */
  sources: readonly UntrustedSource[];
}

/** For whom a session runs, as far as its grants go. */
export type GrantOwner = Pick<SessionGrant, 'userScopeId' | 'teamId'>;

/** Whether a grant was given for this user and team. */
export function isGrantOf(grant: GrantOwner, { userScopeId, teamId }: GrantOwner): boolean {
  return grant.userScopeId === userScopeId && grant.teamId === teamId;
}

/**
 * Whether the personality lets somebody say yes to more than one call.
 *
 * @param personality with its policy of approvals
 * @param scope what somebody asks for; any value
 */
export function mayGrant({ safety }: PersonalityConfig, scope: unknown): scope is GrantScope {
  const policy: ApprovalPolicy | undefined = safety?.approvals;
  const allowed: readonly unknown[] = policy?.grants ?? ALL_SCOPES;
  return allowed.includes(scope) && (ALL_SCOPES as readonly unknown[]).includes(scope);
}

/**
 * Whether a grant answers a question. It ends where the tool, what the call could reach, or what the
 * session has read is not what it was.
 */
export function grantCovers(grant: SessionGrant, asked: AskedCall): boolean {
  const { request, tool, personality, sources } = asked;
  return (
    mayGrant(personality, grant.scope) &&
    grant.toolName === request.toolName &&
    grant.personalityId === personality.id &&
    grant.tool === toolDigest(tool) &&
    isSame(grant.capabilities, request.capabilities) &&
    isSame(grant.settings, request.settings) &&
    (grant.scope !== 'arguments' || isSame(grant.args, request.args)) &&
    sources.every((source) => grant.sources.some((known) => isSame(known, source)))
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

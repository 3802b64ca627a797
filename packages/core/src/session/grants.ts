import { canonicalJson } from '@ethosagent/policy';
import type { AnyTool, ApprovalPolicy, GrantScope, PersonalityConfig } from '@ethosagent/types';
import type { ApprovalRequest } from '../approval.js';
import { toolDigest } from './question.js';
import type { SessionGrant, UntrustedSource } from './session-api.js';

const ALL_SCOPES: readonly GrantScope[] = ['session', 'arguments', 'tool'];

/** A call that a grant is compared with. */
export interface AskedCall {
  request: ApprovalRequest;
  tool: AnyTool | undefined;
  personality: PersonalityConfig;
  sources: readonly UntrustedSource[];
}

/** The user and the team for whom a session runs, which decides on its grants. */
export type GrantOwner = Pick<SessionGrant, 'userScopeId' | 'teamId'>;

/** Whether a grant was given for this user and team. */
export function isGrantOf(grant: GrantOwner, { userScopeId, teamId }: GrantOwner): boolean {
  return grant.userScopeId === userScopeId && grant.teamId === teamId;
}

/**
 * Whether the personality allows a yes to more than one call.
 *
 * @param personality with its policy of approvals
 * @param scope the requested scope; any value
 */
export function mayGrant({ safety }: PersonalityConfig, scope: unknown): scope is GrantScope {
  const policy: ApprovalPolicy | undefined = safety?.approvals;
  const allowed: readonly unknown[] = policy?.grants ?? ALL_SCOPES;
  return allowed.includes(scope) && (ALL_SCOPES as readonly unknown[]).includes(scope);
}

/**
 * Whether a grant answers a question. It no longer does when the tool, what the call could reach or
 * what the session has read has changed.
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

import type { SessionRef } from '@ethosagent/types';
import type { SessionIdentity } from './session-api.js';

/**
 * A session with the owner that the calls of its turns see. Everybody with the same memory may see
 * it.
 *
 * @param sessionId of the session
 * @param personalityId under which it runs
 * @param identity the memory scope, the user and the team
 * @returns the ref, for a `SessionStore`
 */
export function sessionRef(
  sessionId: string,
  personalityId: string,
  { sessionKey, memoryScope, memoryScopeId, userScopeId, teamId }: SessionIdentity = {},
): SessionRef {
  const own = memoryScope === 'global' ? 'global' : `personality:${personalityId}`;
  return {
    id: sessionId,
    scopeId: memoryScopeId ?? own,
    personalityId,
    ...(sessionKey !== undefined && { key: sessionKey }),
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
  };
}

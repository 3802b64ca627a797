import type { SessionRef } from '@ethosagent/types';
import type { SessionIdentity } from './session-api.js';

/** A session, owned as the calls of its turns see it: whoever has the same memory. */
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

import type { SessionInfo } from '@ethosagent/types';

/** The user and the team of a session. */
export function ownerOf({ userScopeId, teamId }: SessionInfo) {
  return {
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
  };
}

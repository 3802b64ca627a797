import type { MemoryScope, SessionInfo, SessionOwner, ToolContext } from '@ethosagent/types';

/** What of a tool context says whose memory and whose sessions a call has. */
export type MemoryFacts = Pick<
  ToolContext,
  'sessionId' | 'personalityId' | 'memoryScope' | 'memoryScopeId' | 'userScopeId' | 'teamId'
>;

/** The ids of the scopes that a call has. */
export type MemoryScopes = ReadonlyMap<MemoryScope, string>;

const MAX_ID_CHARS = 4096;

/**
 * Whose memory each scope is for a call. `memoryScopeId` is the host's own id and is taken as it
 * is; every other id is led by its kind, so that no personality, user or team is named like another
 * scope. What is no id (empty, not well-formed) is nobody's: its scope is absent, rather than
 * shared by all who have none.
 */
export function memoryScopes(facts: MemoryFacts): MemoryScopes {
  const { userScopeId, teamId } = facts;
  const ids: [MemoryScope, string | undefined][] = [
    ['personality', ownScopeId(facts)],
    ['global', 'global'],
    ['user', userScopeId === undefined ? undefined : joined('user', userScopeId)],
    ['team', teamId === undefined ? undefined : joined('team', teamId)],
  ];
  const scopes = new Map<MemoryScope, string>();
  for (const [scope, id] of ids) if (id !== undefined) scopes.set(scope, id);
  return scopes;
}

/** Whose sessions a call sees; `undefined` for nobody's. */
export function sessionOwner(facts: MemoryFacts): SessionOwner | undefined {
  const scopeId = ownScopeId(facts);
  const { userScopeId, teamId } = facts;
  if (scopeId === undefined || isNobody(userScopeId) || isNobody(teamId)) return undefined;
  return {
    scopeId,
    ...(userScopeId !== undefined && { userScopeId }),
    ...(teamId !== undefined && { teamId }),
  };
}

/**
 * Whether a session belongs to no user, team or tenant, but to what any call may run as: its own
 * session stays the call's when the personality changes.
 */
export function isOwnerless({ scopeId, userScopeId, teamId }: SessionInfo): boolean {
  return (
    userScopeId === undefined &&
    teamId === undefined &&
    (scopeId === 'global' || /^(?:personality|session):/.test(scopeId))
  );
}

function ownScopeId({
  sessionId,
  personalityId,
  memoryScope,
  memoryScopeId,
}: MemoryFacts): string | undefined {
  if (memoryScopeId !== undefined) return isId(memoryScopeId) ? memoryScopeId : undefined;
  if (memoryScope === 'global') return 'global';
  return personalityId === undefined
    ? joined('session', sessionId)
    : joined('personality', personalityId);
}

function joined(kind: string, id: string): string | undefined {
  return isId(id) ? `${kind}:${id}` : undefined;
}

function isNobody(id: string | undefined): boolean {
  return id !== undefined && !isId(id);
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARS && id.isWellFormed();
}

import type { MemoryScope, SessionInfo, SessionOwner, ToolContext } from '@ethosagent/types';

/** The part of a tool context that decides whose memory and whose sessions a call uses. */
export type MemoryFacts = Pick<
  ToolContext,
  'sessionId' | 'personalityId' | 'memoryScope' | 'memoryScopeId' | 'userScopeId' | 'teamId'
>;

/** The ids of a call's memory scopes. */
export type MemoryScopes = ReadonlyMap<MemoryScope, string>;

const MAX_ID_CHARS = 4096;

/**
 * Whose memory each scope of a call is. `memoryScopeId` is the host's own id and is used unchanged.
 * Every other id starts with its kind, so that a personality, a user and a team never get the same
 * id. An invalid id (empty, or not well-formed) belongs to nobody: its scope is absent, so that
 * callers without an id don't share one.
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

/** Whose sessions a call sees; `undefined` if it sees none. */
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
 * Whether a session belongs to no user, team or tenant. A call may always see its own session then,
 * even when its personality changes.
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

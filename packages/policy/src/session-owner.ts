import type { SessionOwner } from '@ethosagent/types';

/**
 * Whether two owners are one: the same scope, the same user or none, the same team or none.
 *
 * @param a an owner
 * @param b an owner
 */
export function isSameOwner(a: SessionOwner, b: SessionOwner): boolean {
  return a.scopeId === b.scopeId && a.userScopeId === b.userScopeId && a.teamId === b.teamId;
}

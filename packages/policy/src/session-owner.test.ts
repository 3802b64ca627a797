import type { SessionOwner } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { isSameOwner } from './session-owner.js';

describe('isSameOwner', () => {
  const ada: SessionOwner = { scopeId: 'personality:a', userScopeId: 'ada', teamId: 't' };
  it.each<[string, SessionOwner, boolean]>([
    ['the same', { ...ada }, true],
    ['another scope', { ...ada, scopeId: 'personality:b' }, false],
    ['another user', { ...ada, userScopeId: 'bob' }, false],
    ['no user', { scopeId: ada.scopeId, teamId: 't' }, false],
    ['an empty user', { ...ada, userScopeId: '' }, false],
    ['another team', { ...ada, teamId: 'u' }, false],
    ['no team', { scopeId: ada.scopeId, userScopeId: 'ada' }, false],
    ['another case', { ...ada, userScopeId: 'Ada' }, false],
  ])('%s', (_name, other, expected) => {
    expect([isSameOwner(ada, other), isSameOwner(other, ada)]).toEqual([expected, expected]);
  });

  it('without user and team', () => {
    expect(isSameOwner({ scopeId: 'global' }, { scopeId: 'global' })).toBe(true);
  });
});

import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemoryFacts, memoryScopes, sessionOwner } from './memory-scopes.js';

const facts = (given: Partial<MemoryFacts> = {}): MemoryFacts => ({ sessionId: 's', ...given });

describe('memoryScopes', () => {
  it.each<[Partial<MemoryFacts>, string | undefined]>([
    [{}, 'session:s'],
    [{ personalityId: 'coder' }, 'personality:coder'],
    [{ personalityId: 'coder', memoryScope: 'per-personality' }, 'personality:coder'],
    [{ personalityId: 'coder', memoryScope: 'global' }, 'global'],
    [{ personalityId: 'coder', memoryScopeId: 'tenant-7' }, 'tenant-7'],
    [{ memoryScope: 'global', memoryScopeId: 'tenant-7' }, 'tenant-7'],
    // The id of a personality can't imitate another scope.
    [{ personalityId: 'global' }, 'personality:global'],
    [{ personalityId: 'team:x' }, 'personality:team:x'],
    [{ personalityId: '../x' }, 'personality:../x'],
    // An invalid id belongs to nobody, not to everybody.
    [{ personalityId: '' }, undefined],
    [{ sessionId: '' }, undefined],
    [{ memoryScopeId: '' }, undefined],
    [{ memoryScopeId: '\ud800' }, undefined],
    [{ personalityId: 'a\udc00' }, undefined],
    [{ personalityId: 'x'.repeat(5_000) }, undefined],
  ])('of %j: its own is %j', (given, own) => {
    expect(memoryScopes(facts(given)).get('personality')).toBe(own);
    expect(memoryScopes(facts(given)).get('global')).toBe('global');
    expect(sessionOwner(facts(given))).toEqual(own === undefined ? undefined : { scopeId: own });
  });

  it.each<[Partial<MemoryFacts>, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ userScopeId: 'ada', teamId: 'compilers' }, 'user:ada', 'team:compilers'],
    [{ userScopeId: 'global', teamId: 'user:ada' }, 'user:global', 'team:user:ada'],
    [{ userScopeId: '', teamId: '' }, undefined, undefined],
    [{ userScopeId: '\ud800', teamId: '\ud800' }, undefined, undefined],
  ])('of %j: of the user %j, of the team %j', (given, user, team) => {
    const scopes = memoryScopes(facts(given));
    expect([scopes.get('user'), scopes.get('team')]).toEqual([user, team]);
    expect(scopes.has('user')).toBe(user !== undefined);
  });

  it.each<Partial<MemoryFacts>>([{ userScopeId: '' }, { teamId: '' }, { userScopeId: '\ud800' }])(
    'of %j: no sessions but its own',
    (given) => expect(sessionOwner(facts(given))).toBeUndefined(),
  );

  const id = fc.oneof(
    fc.constantFrom('', 'a', 'global', 'personality:a', 'user:a', 'team:a', 'session:a', 'A', ':'),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  fuzz(
    'gives no two people one id, and no id to two kinds',
    fc.tuple(id, id, id, id),
    ([a, b, c, d]) => {
      const ids = [
        ...[a, b].map((one) => memoryScopes(facts({ personalityId: one })).get('personality')),
        memoryScopes(facts({ sessionId: c })).get('personality'),
        memoryScopes(facts({ userScopeId: c })).get('user'),
        memoryScopes(facts({ userScopeId: d })).get('user'),
        memoryScopes(facts({ teamId: d })).get('team'),
        'global',
      ].filter((one) => one !== undefined);
      const wanted = new Set([
        ...[a, b].filter((one) => one !== '').map((one) => `p ${one}`),
        ...[c].filter((one) => one !== '').map((one) => `s ${one}`),
        ...[c, d].filter((one) => one !== '').map((one) => `u ${one}`),
        ...[d].filter((one) => one !== '').map((one) => `t ${one}`),
        'global',
      ]);
      expect(new Set(ids).size).toBe(wanted.size);
    },
  );
});

import { describe, expect, it } from 'vitest';
import type { ResolvedGrant } from '../resolved-grant.js';
import { compareGrants } from './compare-grants.js';

const git = (more: Partial<NonNullable<ResolvedGrant['process']>> = {}): ResolvedGrant => ({
  process: { allowedBinaries: ['git'], ...more },
});
const required = git({ sandbox: 'required' });
const preferred = git({ sandbox: 'preferred' });
const capped = (memory_mb?: number, processes?: number) =>
  git({
    sandbox: 'required',
    limits: {
      ...(memory_mb !== undefined && { memory_mb }),
      ...(processes !== undefined && { processes }),
    },
  });
const owned = (scopeId: string | null, userScopeId?: string): ResolvedGrant => ({
  sessions: {
    access: 'read',
    owner: scopeId === null ? null : { scopeId, ...(userScopeId !== undefined && { userScopeId }) },
  },
});

/** What is gained from the first to the second; back, the same is lost. */
const GAINS: [string, ResolvedGrant, ResolvedGrant, string[]][] = [
  ['a sandbox that is gone', required, git(), ['programs outside of a sandbox']],
  [
    'a sandbox that is only preferred',
    required,
    preferred,
    ['programs outside of a sandbox, where the machine has none'],
  ],
  [
    'a limit that is raised',
    capped(64),
    capped(65),
    ['processes with memory_mb up to 65, 64 before'],
  ],
  [
    'a limit that is gone',
    capped(64),
    capped(),
    ['processes with memory_mb up to no limit, 64 before'],
  ],
  [
    'a limit above the default of a sandbox',
    capped(),
    capped(undefined, 513),
    ['processes with processes up to 513, 512 before'],
  ],
  ['processes that stay', git(), git({ background: true }), ['processes that outlive their call']],
  [
    'a reach that is not declared any more beside programs',
    { ...git(), fs_reach: { read: [], write: [] } },
    git(),
    ['processes in any folder'],
  ],
  ['sessions', {}, owned(null), ['the messages of its session']],
  ['sessions of an owner', owned(null), owned('a'), ['the sessions of a']],
  ['a service', {}, { service: { scope: 'session' } }, ['what it keeps open beyond a call']],
  ['sub-agents', {}, { delegation: { background: false } }, ['sub-agents']],
  [
    'sub-agents in the background',
    { delegation: { background: false } },
    { delegation: { background: true } },
    ['sub-agents in the background'],
  ],
  [
    'a memory of another scope',
    { memory: { access: 'read', scopes: ['a'] } },
    { memory: { access: 'read', scopes: ['a', 'b'] } },
    ['the memory b'],
  ],
];

describe('compareGrants', () => {
  it.each(GAINS)('tells %s, and the way back', (_, before, after, gained) => {
    const said = (changes: ReturnType<typeof compareGrants>) =>
      changes.map(({ kind, what }) => `${kind} ${what}`);
    expect(said(compareGrants(before, after))).toEqual(gained.map((what) => `widened ${what}`));
    expect(said(compareGrants(after, before))).toEqual(gained.map((what) => `narrowed ${what}`));
  });

  it('takes the sessions of another owner for gained and lost', () => {
    const pairs = [
      [owned('a'), owned('b')],
      [owned('a', 'x'), owned('a')],
    ] as const;
    for (const [before, after] of pairs) {
      expect(compareGrants(before, after).map(({ kind }) => kind)).toEqual(['widened', 'narrowed']);
    }
  });

  it.each<[string, ResolvedGrant, ResolvedGrant]>([
    [
      'hosts that a wider one covers',
      { network: { allowedHosts: ['*.a.test'] } },
      { network: { allowedHosts: ['*.a.test', 'b.a.test'] } },
    ],
    ['hosts that are denied', {}, { network: { allowedHosts: ['a.test'], deny: ['*'] } }],
    [
      'a denied host that was never allowed',
      { network: { allowedHosts: ['a.test'], deny: ['b.test'] } },
      { network: { allowedHosts: ['a.test'] } },
    ],
    [
      'an address that is denied under another spelling',
      { network: { allowedHosts: ['*'], deny: ['::ffff:10.0.0.5'] } },
      { network: { allowedHosts: ['*'], deny: ['::ffff:a00:5'] } },
    ],
    [
      'folders below one that is there',
      { fs_reach: { read: ['/a'], write: [] } },
      { fs_reach: { read: ['/a', '/a/b'], write: [] } },
    ],
    ['quotas of a tool that reaches nothing', { quotas: { per_call: { requests: 1 } } }, {}],
    ['an empty list and none', {}, { secrets: [], network: { allowedHosts: [] } }],
  ])('finds no difference of effect in %s', (_, before, after) => {
    expect(compareGrants(before, after)).toEqual([]);
  });

  it('takes a secret that is bound for less than one that is read', () => {
    const hosts = ['a.test'];
    expect(
      compareGrants({ secrets: ['k'] }, { secrets: [{ ref: 'k', hosts }] }).map(({ kind }) => kind),
    ).toEqual(['narrowed']);
  });
});

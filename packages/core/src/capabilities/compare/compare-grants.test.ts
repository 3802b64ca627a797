import type { ArgumentPolicy, QuotaLimits } from '@ethosagent/types';
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
const ruled = (rule: ArgumentPolicy) => git({ arguments: { git: rule } });
const quotas = (most: number): Required<QuotaLimits> => ({
  requests: most,
  bytes_in: most,
  bytes_out: most,
  process_seconds: most,
  files_written: most,
  store_bytes: most,
});
const owned = (scopeId: string | null, userScopeId?: string): ResolvedGrant => ({
  sessions: {
    access: 'read',
    owner: scopeId === null ? null : { scopeId, ...(userScopeId !== undefined && { userScopeId }) },
  },
});

/** What is gained from the first grant to the second. In the other direction it is lost. */
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
  [
    'each limit of a sandbox',
    git({ sandbox: 'required', limits: { cpu_seconds: 1, file_size_mb: 1, open_files: 1 } }),
    git({ sandbox: 'required', limits: { cpu_seconds: 2, file_size_mb: 2, open_files: 2 } }),
    ['cpu_seconds', 'file_size_mb', 'open_files'].map(
      (name) => `processes with ${name} up to 2, 1 before`,
    ),
  ],
  [
    'an argument that is not denied any more',
    ruled({ deny: ['-c*'] }),
    ruled({}),
    ['arguments of git that were refused'],
  ],
  [
    'an argument that is allowed',
    ruled({ allow: ['status'] }),
    ruled({ allow: ['status', 'push'] }),
    ['arguments of git that were refused'],
  ],
  [
    'a list less that arguments have to be in',
    ruled({ allow: ['status'], allow_each: [['s*']] }),
    ruled({ allow: ['status'] }),
    ['arguments of git that were refused'],
  ],
  [
    'a port of another service that is named',
    { network: { allowedHosts: ['*.a.test'] } },
    { network: { allowedHosts: ['*.a.test'], servicePorts: ['x.a.test:5432'] } },
    ['requests to x.a.test:5432, the port of another service'],
  ],
  [
    'a suffix beside one of its hosts',
    { network: { allowedHosts: ['*.a.test', 'x.b.test'] } },
    { network: { allowedHosts: ['*.a.test', '*.b.test', 'x.b.test'] } },
    ['requests to *.b.test'],
  ],
  [
    'a private machine that is named',
    { network: { allowedHosts: ['*'] } },
    { network: { allowedHosts: ['*'], privateHosts: ['10.0.0.5'] } },
    ['requests to 10.0.0.5, whose address is private'],
  ],
  [
    'an address that was denied behind every name',
    { network: { allowedHosts: ['a.test'], deny: ['10.0.0.5'] } },
    { network: { allowedHosts: ['a.test'] } },
    ['requests to 10.0.0.5, which was denied'],
  ],
  ...(['read', 'write'] as const).map((kind): [string, ResolvedGrant, ResolvedGrant, string[]] => [
    `a folder to ${kind}`,
    { fs_reach: { read: ['/r'], write: ['/r'] } },
    { fs_reach: { read: ['/r'], write: ['/r'], [kind]: ['/r', '/w'] } },
    [`${kind}s in /w`],
  ]),
  [
    'a folder that stayed in place',
    { fs_reach: { read: [], write: ['/w'], stays: ['/w/x'] } },
    { fs_reach: { read: [], write: ['/w'] } },
    ['moving or removing /w/x, which stayed in place as a folder of the reach'],
  ],
  ...(['per_call', 'per_session'] as const).map(
    (level): [string, ResolvedGrant, ResolvedGrant, string[]] => [
      `each quota ${level}`,
      { ...git(), quotas: { [level]: quotas(1) } },
      { ...git(), quotas: { [level]: quotas(2) } },
      Object.keys(quotas(1)).map(
        (name) => `2 of ${name} in a ${level === 'per_call' ? 'call' : 'session'}, 1 before`,
      ),
    ],
  ),
  [
    'a host to which a secret is sent',
    { secrets: [{ ref: 'k', hosts: ['a.test'] }] },
    { secrets: [{ ref: 'k', hosts: ['a.test', 'b.test'] }] },
    ['the secret k sent to b.test'],
  ],
  [
    'a secret that is read instead of bound',
    { secrets: [{ ref: 'k', hosts: ['a.test'] }] },
    { secrets: ['k'] },
    ['the value of the secret k'],
  ],
  [
    'secrets below one',
    { secrets: ['a'] },
    { secrets: ['a', 'a/*'] },
    ['the value of the secret a/*'],
  ],
  [
    'secrets beside one',
    { secrets: ['a/b'] },
    { secrets: ['a/*'] },
    ['the value of the secret a/*'],
  ],
  [
    'changes of a memory',
    { memory: { access: 'read', scopes: ['a'] } },
    { memory: { access: 'read-write', scopes: ['a'] } },
    ['changes of the memory'],
  ],
  [
    'attachments of more types',
    { attachments: { mediaTypes: ['image/png'] } },
    { attachments: { mediaTypes: ['image/*'] } },
    ['attachments of the type image/*'],
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

  it('takes another store, and a link that leads elsewhere, for gained and lost', () => {
    const led = (lead: string): ResolvedGrant => ({
      fs_reach: { read: ['/w'], write: [], leads: { '/w': lead } },
    });
    const pairs = [
      [{ storage: { scope: 'tool-private' } }, { storage: { scope: 'personality' } }],
      [led('/a'), led('/b')],
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
      'an address that is denied as the one that it stands for',
      { network: { allowedHosts: ['*'], deny: ['10.0.0.5', '[::ffff:10.0.0.5]'] } },
      { network: { allowedHosts: ['*'], deny: ['[::ffff:10.0.0.5]'] } },
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

import { expect, it } from 'vitest';
import { grantLines } from './grant-lines.js';

it('shows what it has no words for as it is, once', () => {
  const grant = { storage: { scope: 'session' as const }, clock: { zones: ['UTC'] } };
  expect(grantLines(grant)).toEqual([
    ['store', 'session'],
    ['clock', '{"zones":["UTC"]}'],
  ]);
});

it('shows which secret stands behind a declared one', () => {
  const grant = {
    secrets: [{ ref: 'search/key', hosts: ['a.test'] }, 'mail/*', 'other'],
    secretSources: { 'search/key': 'own/key', 'mail/key': false as const },
  };
  expect(grantLines(grant)).toEqual([
    ['secrets', 'search/key (value of own/key; to a.test), mail/*, mail/key (none here), other'],
  ]);
});

it('tells a secret that can be sent nowhere from one that the tool may read', () => {
  const grant = { secrets: [{ ref: 'bound', hosts: [] }, 'readable'] };
  expect(grantLines(grant)).toEqual([
    ['secrets', 'bound (to no host, so it can not be used), readable'],
  ]);
});

it('shows every capability that it has words for by those alone', () => {
  const lines = grantLines({
    network: { allowedHosts: ['a.test'] },
    secrets: ['key'],
    secretSources: { key: 'own/key' },
    storage: { scope: 'personality' },
    fs_reach: { read: ['/a'], write: ['/b'] },
    process: { allowedBinaries: ['git'] },
    attachments: { mediaTypes: ['image/*'] },
    memory: { access: 'read', scopes: ['p'] },
    sessions: { access: 'read', owner: null },
    service: { scope: 'session' },
    delegation: { background: false },
    quotas: {},
  });
  expect(lines.map(([what]) => what)).toEqual([
    'hosts',
    'read',
    'write',
    'secrets',
    'programs',
    'sandbox',
    'store',
    'attachments',
    'memory',
    'sessions',
    'service',
    'sub-agents',
    'quotas',
  ]);
});

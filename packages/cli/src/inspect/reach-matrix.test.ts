import type { ResolvedGrant } from '@ethosagent/core';
import { expect, it } from 'vitest';
import { grantLines } from '../grant-lines.js';
import { reachMatrix } from './reach-matrix.js';

const grant = {
  network: {
    allowedHosts: ['*'],
    deny: ['evil.test'],
    allow_private_urls: true,
    privateHosts: ['127.0.0.1'],
    servicePorts: ['db.test:6379'],
  },
  secrets: ['key'],
  storage: { scope: 'personality' },
  fs_reach: {
    read: ['/a'],
    write: ['/b'],
    deny: ['/a/home'],
    leads: { '/a': '/elsewhere' },
    stays: ['/b/stays'],
  },
  process: {
    allowedBinaries: ['git'],
    background: true,
    arguments: { git: { deny: ['-c'] } },
    limits: { processes: 9 },
  },
  quotas: { per_call: { requests: 1 } },
} satisfies ResolvedGrant;

const matrix = reachMatrix({
  personality: {
    id: 'p',
    name: 'P',
    safety: { network: { allow: ['*'] }, process: grant.process },
  },
  places: (part) => [`config.yaml:1 ${part}`],
  reach: [{ tool: 't', description: '', offered: true, given: true, grant }],
  declared: () => ({ network: { allowedHosts: ['*'] }, process: { allowedBinaries: ['git'] } }),
});
const otherRows = matrix.rows
  .filter(({ kind }) => kind === 'other')
  .map(({ name, cells }) => [name, cells[0]?.note]);

it('leaves out nothing that the text has', () => {
  const inNotes = ['not hosts', 'private addresses', 'sandbox', 'background'];
  const inRows = ['hosts', 'read', 'write', 'secrets', 'programs', ...inNotes];
  const rest = grantLines(grant).filter(([what]) => !inRows.includes(what));
  expect(rest.map(([what]) => what)).toContain('links');
  expect(otherRows).toEqual(rest.sort(([a], [b]) => (a < b ? -1 : 1)));
});

it('says what opens a machine or a port, and what bounds arguments', () => {
  const why = (row: string) => matrix.rows.find(({ name }) => name === row)?.cells[0];
  for (const row of ['private machines', 'service ports']) {
    expect(why(row)).toMatchObject({
      declared: ['network = {"allowedHosts":["*"]}'],
      policy: [expect.stringContaining('safety.network.allow')],
    });
  }
  for (const row of ['arguments', 'limits']) {
    expect(why(row)?.policy).toEqual([expect.stringContaining(`safety.process.${row}`)]);
  }
});

import type { ToolCapabilities, ToolEffect } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { effectsOf } from './effects.js';

const CASES: [name: string, capabilities: ToolCapabilities, effects: ToolEffect[]][] = [
  ['nothing', {}, []],
  ['reading files', { fs_reach: { read: 'from-personality' } }, []],
  ['no folder to write', { fs_reach: { read: ['/a'], write: [] } }, []],
  ['writing files', { fs_reach: { write: 'from-personality' } }, ['write']],
  ['writing one folder', { fs_reach: { write: ['/a'] } }, ['write']],
  ['reading memory', { memory: { access: 'read' } }, []],
  ['writing memory', { memory: { access: 'read-write' } }, ['write']],
  ['hosts', { network: { allowedHosts: ['a.example'] } }, ['send']],
  ['no hosts', { network: { allowedHosts: [] } }, []],
  ['binaries', { process: { allowedBinaries: ['git'] } }, ['spawn']],
  ['no binaries', { process: { allowedBinaries: [] } }, []],
  ['its own notes', { storage: { scope: 'session', kind: 'kv' } }, []],
  ['sub-agents, which are asked themselves', { delegation: {} }, []],
  [
    'all',
    {
      fs_reach: { write: ['/a'] },
      network: { allowedHosts: ['*'] },
      process: { allowedBinaries: ['*'] },
    },
    ['write', 'send', 'spawn'],
  ],
];

describe('effectsOf', () => {
  it.each(CASES)('of a tool that declares %s', (_, capabilities, effects) => {
    expect(effectsOf({ capabilities })).toEqual(effects);
  });

  it('is what the tool says, and no more than there is', () => {
    const capabilities = { process: { allowedBinaries: ['rg'] } };
    expect(effectsOf({ capabilities, effects: [] })).toEqual([]);
    expect(effectsOf({ capabilities: {}, effects: ['send', 'send', 'write'] })).toEqual([
      'write',
      'send',
    ]);
  });
});

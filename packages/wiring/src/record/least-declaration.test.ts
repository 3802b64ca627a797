import type { AuditEvent, ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { leastDeclaration } from './least-declaration.js';

type Used = Pick<AuditEvent, 'capability' | 'target' | 'operation'>;

function least(declared: ToolCapabilities, used: readonly Used[]): ToolCapabilities {
  return leastDeclaration({
    declared,
    events: used.map((each) => ({
      time: '',
      sessionId: 's',
      toolName: 'tool',
      toolCallId: 'c',
      decision: 'allowed',
      reason: '',
      ...each,
    })),
    folders: {
      cwd: '/w',
      home: '/h',
      userHome: '/u',
      variables: { ETHOS_HOME: '/h', self: undefined, CWD: '/w' },
      moved: [],
      isFolder: () => false,
    },
  });
}

const ran = (target: string, operation = 'spawn'): Used => ({
  capability: 'process',
  target,
  operation,
});
const asked = (host: string): Used => ({
  capability: 'network',
  target: `https://${host}/`,
  operation: 'fetch',
});
const got: Used = { capability: 'secrets', target: 'k', operation: 'get' };
const remembered = (operation: string): Used => ({ capability: 'memory', target: 'a', operation });
const asker = (operation: string): Used => ({ capability: 'delegation', target: 'p', operation });

const sandboxed: ToolCapabilities = {
  process: { allowedBinaries: ['*'], sandbox: 'required', background: true },
};
const hosts = ['a.test', 'b.test'];
const bound: ToolCapabilities = {
  network: { allowedHosts: hosts },
  secrets: [{ ref: 'k', hosts }, 'unused'],
};

describe('leastDeclaration', () => {
  it.each<[string, ToolCapabilities, Used[], ToolCapabilities]>([
    [
      'each program that ran, in the sandbox of today',
      sandboxed,
      [ran('tar'), ran('git'), ran('tar')],
      { process: { allowedBinaries: ['git', 'tar'], sandbox: 'required' } },
    ],
    [
      'the background where something was left to run',
      sandboxed,
      [ran('git', 'start')],
      { process: { allowedBinaries: ['git'], sandbox: 'required', background: true } },
    ],
    [
      'a secret for the hosts of today that were asked',
      bound,
      [got, asked('a.test')],
      { network: { allowedHosts: ['a.test'] }, secrets: [{ ref: 'k', hosts: ['a.test'] }] },
    ],
    [
      'a secret as bound as it was where nothing was asked',
      bound,
      [got],
      { secrets: [{ ref: 'k', hosts }] },
    ],
    [
      'a memory to read where nothing was changed',
      { memory: { access: 'read-write' } },
      [remembered('read')],
      { memory: { access: 'read' } },
    ],
    [
      'a memory to write where something was changed',
      { memory: { access: 'read-write' } },
      [remembered('read'), remembered('change')],
      { memory: { access: 'read-write' } },
    ],
    [
      'sub-agents that are waited for',
      { delegation: { background: true } },
      [asker('run')],
      { delegation: {} },
    ],
    [
      'sub-agents in the background where one was started',
      { delegation: { background: true } },
      [asker('run'), asker('start')],
      { delegation: { background: true } },
    ],
    ['nothing where nothing was used', { ...sandboxed, ...bound }, [], {}],
  ])('holds %s', (_, declared, used, expected) => {
    expect(least(declared, used)).toEqual(expected);
  });
});

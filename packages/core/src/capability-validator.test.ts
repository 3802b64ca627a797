import type { CapabilityName, ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { validateRegistration } from './capability-validator.js';
import { makeTool, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

type Personality = Parameters<typeof validateRegistration>[1];

function problems(capabilities: unknown, personality: Personality = {}): string[] {
  const tool = { name: 't', capabilities: untyped(capabilities) };
  return validateRegistration(tool, personality).map(
    ({ tool: name, capability, message }) => `${name} ${capability}: ${message}`,
  );
}

const allow = (...hosts: string[]): Personality => ({ safety: { network: { allow: hosts } } });
const reach = (...read: string[]): Personality => ({ fs_reach: { read, write: [] } });

describe('validateRegistration, what fits', () => {
  it.each<[ToolCapabilities, Personality]>([
    [{}, {}],
    [{ network: { allowedHosts: ['a.com'] } }, {}],
    [{ network: { allowedHosts: ['a.com'] } }, { safety: {} }],
    [{ network: { allowedHosts: ['A.com.'] } }, allow('a.com')],
    [{ network: { allowedHosts: ['x.a.com', '*.x.a.com'] } }, allow('*.a.com')],
    [{ network: { allowedHosts: ['*.a.com'] } }, allow('*.a.com')],
    [{ network: { allowedHosts: ['*'] } }, allow()],
    [{ network: { allowedHosts: ['a.com:8443'] } }, allow('a.com')],
    [{ secrets: ['a/b', 'a/*', 'KEY'] }, {}],
    [{ network: { allowedHosts: ['x.com'] }, secrets: [{ ref: 'a', hosts: ['x.com'] }] }, {}],
    [{ storage: { scope: 'session', kind: 'kv', ttlSecondsDefault: 0.5 } }, {}],
    [{ fs_reach: { read: 'from-personality', write: 'from-personality' } }, {}],
    [{ fs_reach: { read: ['/data', '/data/x', '/data/'] } }, reach('/data')],
    [{ fs_reach: { read: ['/data'] } }, reach('/')],
    [{ process: { allowedBinaries: ['git', '/usr/bin/git', '*', 'g++', 'python3.12'] } }, {}],
    [
      { attachments: { mediaTypes: ['image/png', 'image/*', '*/*', 'application/vnd.ms-excel'] } },
      {},
    ],
  ])('%j under %j', (capabilities, personality) => {
    expect(problems(capabilities, personality)).toEqual([]);
  });
});

describe('validateRegistration, what does not', () => {
  it.each<[unknown, Personality, CapabilityName, string]>([
    [
      { network: { allowedHosts: ['b.com'] } },
      allow('a.com'),
      'network',
      "b.com is not covered by the personality's safety.network.allow",
    ],
    [
      { network: { allowedHosts: ['a.com'] } },
      allow(),
      'network',
      "a.com is not covered by the personality's safety.network.allow",
    ],
    [
      { network: { allowedHosts: ['*.a.com'] } },
      allow('x.a.com'),
      'network',
      "*.a.com is not covered by the personality's safety.network.allow",
    ],
    [
      { network: { allowedHosts: ['a.com'] } },
      allow('*.a.com'),
      'network',
      "a.com is not covered by the personality's safety.network.allow",
    ],
    [
      { network: { allowedHosts: ['a.com'] } },
      allow('a.com:8443'),
      'network',
      "a.com is not covered by the personality's safety.network.allow",
    ],
    [
      { network: { allowedHosts: ['https://a.com'] } },
      {},
      'network',
      '"https://a.com" is not a host, *.suffix or *',
    ],
    [
      { network: { allowedHosts: ['a.com/x'] } },
      {},
      'network',
      '"a.com/x" is not a host, *.suffix or *',
    ],
    [{ network: { allowedHosts: [''] } }, {}, 'network', '"" is not a host, *.suffix or *'],
    [
      { network: { allowedHosts: ['*.*.com'] } },
      {},
      'network',
      '"*.*.com" is not a host, *.suffix or *',
    ],
    [{ secrets: ['a//b'] }, {}, 'secrets', '"a//b" is not a secret ref'],
    [{ secrets: ['../a'] }, {}, 'secrets', '"../a" is not a secret ref'],
    [
      { secrets: [{ ref: 'a', hosts: [] }] },
      {},
      'secrets',
      'a names no hosts; list them, or declare the ref alone',
    ],
    [
      { secrets: [{ ref: 'a', hosts: ['x.com'] }] },
      {},
      'secrets',
      'a can be sent nowhere: the tool declares no network',
    ],
    [
      { network: { allowedHosts: ['x.com'] }, secrets: [{ ref: 'a', hosts: ['*'] }] },
      {},
      'secrets',
      'a: "*" is not a host or *.suffix',
    ],
    [
      { network: { allowedHosts: ['x.com'] }, secrets: [{ ref: '..', hosts: ['x.com'] }] },
      {},
      'secrets',
      '".." is not a secret ref',
    ],
    [{ secrets: ['*'] }, {}, 'secrets', '"*" is not a secret ref'],
    [
      { storage: { scope: 'global', kind: 'kv' } },
      {},
      'storage',
      '"global" is not a storage scope',
    ],
    [{ storage: { scope: 'session', kind: 'blob' } }, {}, 'storage', '"blob" is not kv'],
    [
      { storage: { scope: 'session', kind: 'kv', ttlSecondsDefault: 0 } },
      {},
      'storage',
      'ttlSecondsDefault 0 is not a number above zero',
    ],
    [
      { storage: { scope: 'session', kind: 'kv', ttlSecondsDefault: Number.NaN } },
      {},
      'storage',
      'ttlSecondsDefault NaN is not a number above zero',
    ],
    [
      { fs_reach: { read: ['/data'] } },
      {},
      'fs_reach.read',
      "/data is not covered by the personality's fs_reach.read",
    ],
    [
      { fs_reach: { write: ['/data'] } },
      reach('/data'),
      'fs_reach.write',
      "/data is not covered by the personality's fs_reach.write",
    ],
    [
      { fs_reach: { read: ['/database'] } },
      reach('/data'),
      'fs_reach.read',
      "/database is not covered by the personality's fs_reach.read",
    ],
    [
      { fs_reach: { read: ['/'] } },
      reach('/data'),
      'fs_reach.read',
      "/ is not covered by the personality's fs_reach.read",
    ],
    [
      { fs_reach: { read: ['/data/../etc'] } },
      reach('/data'),
      'fs_reach.read',
      '"/data/../etc" is not an absolute path without . and ..',
    ],
    [
      { fs_reach: { read: ['data'] } },
      reach('/data'),
      'fs_reach.read',
      '"data" is not an absolute path without . and ..',
    ],
    [
      { fs_reach: { read: ['/da\0ta'] } },
      reach('/'),
      'fs_reach.read',
      '"/da\\u0000ta" is not an absolute path without . and ..',
    ],
    [
      { process: { allowedBinaries: ['./git'] } },
      {},
      'process',
      '"./git" is not a bare name, an absolute path or *',
    ],
    [
      { process: { allowedBinaries: ['/usr/../git'] } },
      {},
      'process',
      '"/usr/../git" is not a bare name, an absolute path or *',
    ],
    [
      { process: { allowedBinaries: [''] } },
      {},
      'process',
      '"" is not a bare name, an absolute path or *',
    ],
    [
      { process: { allowedBinaries: ['..'] } },
      {},
      'process',
      '".." is not a bare name, an absolute path or *',
    ],
    [{ attachments: { mediaTypes: ['image'] } }, {}, 'attachments', '"image" is not a media type'],
    [
      { memory: { access: untyped('write') } },
      {},
      'memory',
      'access "write" is not read or read-write',
    ],
    [{ memory: untyped({}) }, {}, 'memory', 'access undefined is not read or read-write'],
    [
      { sessions: { access: untyped('read-write') } },
      {},
      'sessions',
      'access "read-write" is not read',
    ],
  ])('%j under %j: %s', (capabilities, personality, capability, message) => {
    expect(problems(capabilities, personality)).toEqual([`t ${capability}: ${message}`]);
  });

  it('returns all of it', () => {
    const capabilities = {
      network: { allowedHosts: ['b.com', 'http://x'] },
      secrets: ['..'],
      fs_reach: { read: ['/a'], write: ['b'] },
    };
    expect(problems(capabilities, allow('a.com')).map((text) => text.split(':', 1)[0])).toEqual([
      't network',
      't secrets',
      't fs_reach.write',
      't network',
      't fs_reach.read',
    ]);
  });
});

describe('DefaultToolRegistry.validateToolsForPersonality', () => {
  it('gives the problems of every tool', () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('fits'));
    registry.register(makeTool('one', undefined, { capabilities: { fs_reach: { read: ['/a'] } } }));
    registry.register(makeTool('two', undefined, { capabilities: { secrets: [''] } }));
    const errors = registry.validateToolsForPersonality({ id: 'p', name: 'P' });
    expect(errors.map(({ tool, capability }) => [tool, capability])).toEqual([
      ['one', 'fs_reach.read'],
      ['two', 'secrets'],
    ]);
  });
});

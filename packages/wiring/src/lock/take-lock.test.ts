import type { ResolvedGrant } from '@ethosagent/core';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { expect, it } from 'vitest';
import type { McpServerIdentity } from '../mcp.js';
import { takeLock } from './take-lock.js';

const SERVER: McpServerIdentity = {
  server: 'My notes',
  part: 'my_notes',
  reached: ['node', 'notes.mjs'],
  names: ['B', 'A'],
  pin: 'pin',
};

function tool(more: Partial<AnyTool> = {}): AnyTool {
  return {
    name: 't',
    description: 'A tool.',
    schema: {},
    capabilities: {},
    execute: async () => ({ ok: true, value: '' }),
    ...more,
  };
}

function take(
  { grant = {}, ...given }: { tool?: AnyTool; grant?: ResolvedGrant },
  config: Partial<PersonalityConfig> = {},
) {
  return takeLock({
    places: { home: '/agent/.ethos', cwd: '/agent' },
    environment: [],
    personalities: [
      { config: { id: 'p', name: 'P', ...config }, tools: [{ tool: tool(), grant, ...given }] },
    ],
    servers: [SERVER],
  });
}

it.each<[string, (list: <T>(...items: T[]) => T[]) => ResolvedGrant]>([
  ['hosts', (list) => ({ network: { allowedHosts: list('a.example', 'b.example') } })],
  ['denied hosts', (list) => ({ network: { allowedHosts: [], deny: list('a.example', 'b') } })],
  [
    'secrets',
    (list) => ({
      secrets: list<string | { ref: string; hosts: string[] }>('a', {
        ref: 'b',
        hosts: list('x', 'y'),
      }),
    }),
  ],
  [
    'secrets of the personality',
    (list) => ({
      secrets: ['a', 'b'],
      secretSources: Object.fromEntries(list(['a', 'own/a'], ['b', false])),
    }),
  ],
  ['media types', (list) => ({ attachments: { mediaTypes: list('image/png', 'text/plain') } })],
  ['scopes of memory', (list) => ({ memory: { access: 'read', scopes: list('agent', 'user') } })],
  [
    'programs with rules for their arguments',
    (list) => ({
      process: {
        allowedBinaries: ['git', 'npm'],
        arguments: Object.fromEntries(list(['git', {}], ['npm', {}])),
      },
    }),
  ],
  ['folders', (list) => ({ fs_reach: { read: list('/a', '/b'), write: list('/c', '/d') } })],
])('the order of %s makes no difference', (_, grantOf) => {
  const grant = grantOf((...items) => items);
  const turned = grantOf((...items) => items.reverse());
  expect(JSON.stringify(turned)).not.toBe(JSON.stringify(grant));
  expect(JSON.stringify(take({ grant: turned }))).toBe(JSON.stringify(take({ grant })));
});

it('what is said twice is held once', () => {
  const hosts = (...allowedHosts: string[]) => take({ grant: { network: { allowedHosts } } });
  expect(hosts('b', 'a', 'b')).toEqual(hosts('a', 'b'));
});

it('a server is named by a personality as mcp.json does, or as the names of its tools do', () => {
  const serversOf = (mcp_servers: string[]) =>
    take({}, { mcp_servers }).personalities.flatMap(({ servers }) => servers);
  expect(serversOf(['My notes'])).toEqual(['My notes']);
  expect(serversOf(['my_notes'])).toEqual(['My notes']);
  expect(serversOf(['notes'])).toEqual([]);
});

it('holds settings of tools that take some, under the name that they have there', () => {
  const settings = {
    schema: {},
    parse: (value: unknown) => ({ ok: true as const, settings: value }),
  };
  const settingsOf = (more: Partial<AnyTool>) =>
    take({ tool: tool(more) }, { tool_settings: { t: { a: 1 }, shared: { b: 2 } } })
      .personalities[0]?.tools[0]?.settings;
  expect(settingsOf({})).toBeUndefined();
  expect(settingsOf({ settings })).toBe('{\n  "a": 1\n}');
  expect(settingsOf({ settings, settingsKey: 'shared' })).toBe('{\n  "b": 2\n}');
});

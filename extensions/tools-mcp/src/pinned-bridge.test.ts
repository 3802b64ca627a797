import { DefaultToolRegistry } from '@ethosagent/core';
import type { KeyValueStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { answers, createFakeBridge, type FakeServer } from './fixtures/fake-host.js';
import { parseMcpConfig } from './index.js';
import { createPinnedMcpBridge } from './pinned-bridge.js';

type Store = Pick<KeyValueStore, 'get' | 'set' | 'delete' | 'list'> & { kept: Map<string, string> };

function memoryStore(): Store {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (key) => kept.get(key) ?? null,
    set: async (key, value) => void kept.set(key, value),
    delete: async (key) => void kept.delete(key),
    list: async (prefix = '') => [...kept.keys()].filter((key) => key.startsWith(prefix)),
  };
}

const config = (servers: Record<string, object>) => parseMcpConfig({ mcpServers: servers });
const H = { command: 'fake', args: ['one'] };
const G = { command: 'fake', args: ['two'] };

/** A bridge over the pins of a bridge that has started the servers `h` and `g`. */
async function pinnedWorld(servers: Record<string, object> = { h: H, g: G }, tools = ['go']) {
  const pins = memoryStore();
  const serve: FakeServer = (message, process) =>
    message.method === 'tools/list'
      ? { tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) }
      : answers(message, process);
  const { bridge } = createFakeBridge(serve, { pins, config: config({ h: H, g: G }) });
  await bridge.start();
  await bridge.close();
  const registry = new DefaultToolRegistry();
  const pinned = createPinnedMcpBridge({ config: config(servers), pins, registry });
  const names = () =>
    registry
      .toDefinitions()
      .map(({ name }) => name)
      .sort();
  return { pins, pinned, registry, names };
}

describe('createPinnedMcpBridge', () => {
  it('offers the tools of servers that are as they were accepted, until it is closed', async () => {
    const { pinned, names } = await pinnedWorld();
    expect(await pinned.start()).toMatchObject([
      { server: 'h', state: 'pinned', tools: ['mcp__h__go'] },
      { server: 'g', state: 'pinned', tools: ['mcp__g__go'] },
    ]);
    expect(names()).toEqual(['mcp__g__go', 'mcp__h__go']);
    await pinned.close();
    expect(names()).toEqual([]);
    expect(pinned.status()).toEqual([]);
  });

  it.each([
    ['a server that has changed', { command: 'fake', args: ['other'] }],
    ['a tool that the configuration excludes', { ...H, excludeTools: ['go'] }],
  ])('offers nothing of %s', async (_what, h) => {
    const { pinned, names } = await pinnedWorld({ h });
    expect(await pinned.start()).toMatchObject([{ server: 'h', tools: [] }]);
    expect(names()).toEqual([]);
  });

  it.each(['server:h', 'pin:mcp__h__go'])(
    'holds back a server whose pin can not be read, and no other: %s',
    async (key) => {
      const { pins, pinned, names } = await pinnedWorld();
      const pin = pins.kept.get(key) ?? '';
      pins.kept.set(key, '{broken');
      expect(await pinned.start()).toMatchObject([
        {
          server: 'h',
          reason: expect.stringContaining(`STORE_CORRUPT: the pin ${key}`),
          tools: [],
        },
        { server: 'g', tools: ['mcp__g__go'] },
      ]);
      expect(names()).toEqual(['mcp__g__go']);
      // The pins are read again at the next start.
      pins.kept.set(key, pin);
      await pinned.start();
      expect(names()).toEqual(['mcp__g__go', 'mcp__h__go']);
      pins.kept.set(key, '{broken');
      await pinned.close();
      expect(names()).toEqual([]);
    },
  );

  it('holds back a tool that the registry refuses, and no other', async () => {
    const { pinned, registry, names } = await pinnedWorld({ h: H }, ['a', 'go', 'z']);
    const taken = {
      name: 'mcp__h__go',
      description: 'Goes.',
      schema: {},
      capabilities: {},
      execute: async () => ({ ok: true, value: '' }) as const,
    };
    registry.register(taken, { pluginId: 'p' });
    expect(await pinned.start()).toMatchObject([
      {
        server: 'h',
        tools: ['mcp__h__a', 'mcp__h__z'],
        held: [{ tool: 'go', reason: expect.stringContaining('belongs to plugin p') }],
      },
    ]);
    await pinned.close();
    expect(names()).toEqual(['mcp__h__go']);
  });
});

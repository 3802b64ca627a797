import type { AnyTool, KeyValueStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { answers, createFakeBridge } from './fixtures/fake-host.js';
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
async function pinnedWorld(servers: Record<string, object> = { h: H, g: G }) {
  const pins = memoryStore();
  const { bridge } = createFakeBridge(answers, { pins, config: config({ h: H, g: G }) });
  await bridge.start();
  await bridge.close();
  const registered = new Map<string, AnyTool>();
  const pinned = createPinnedMcpBridge({
    config: config(servers),
    pins,
    registry: {
      register: (tool) => void registered.set(tool.name, tool),
      unregister: (name) => registered.delete(name),
    },
  });
  return { pins, pinned, names: () => [...registered.keys()].sort() };
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
});

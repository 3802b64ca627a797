import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { createPluginHost } from './plugin-host.js';
import { pluginOf } from './plugin-of.js';
import { defineTool, ok } from './tool-helpers.js';

const greet = defineTool({
  name: 'greet',
  description: 'Greet somebody.',
  schema: { type: 'object' },
  capabilities: {},
  execute: async () => ok('hello'),
});
const activate = (api: { registerTool(tool: typeof greet): void }) => api.registerTool(greet);

describe('pluginOf', () => {
  it.each([
    ['a default export', { default: { activate } }],
    ['a default export of CommonJS', { default: { default: { activate }, __esModule: true } }],
    ['a module that is the plugin', { activate }],
  ])('gives %s the name of its package, and the host loads it under that', async (_, module) => {
    const registry = new DefaultToolRegistry();
    const host = createPluginHost({ registry });
    await host.load(pluginOf('@acme/greetings', module));
    expect(host.list()).toMatchObject([{ id: '@acme/greetings', tools: ['greet'] }]);
    const kept = registry.toDefinitions(undefined, { allowedPlugins: ['other'] });
    expect(kept).toEqual([]);
  });

  it('leaves an id, a name and a version as they are', () => {
    const plugin = { id: 'own', name: 'Own', version: '1.2.3', activate };
    expect(pluginOf('@acme/greetings', { default: plugin })).toMatchObject({
      id: 'own',
      name: 'Own',
      version: '1.2.3',
    });
  });

  it('calls the methods of a class on their object', async () => {
    class Counter {
      count = 0;
      activate(): void {
        this.count++;
      }
      deactivate(): void {
        this.count--;
      }
    }
    const counter = new Counter();
    const host = createPluginHost({ registry: new DefaultToolRegistry() });
    await host.load(pluginOf('counter', { default: counter }));
    expect(counter.count).toBe(1);
    await host.unload('counter');
    expect(counter.count).toBe(0);
  });

  it.each([
    ['no default export', {}],
    ['a default export that is no plugin', { default: { activate: true } }],
    ['null', { default: null }],
  ])('throws for %s', (_, module) => {
    expect(() => pluginOf('acme', module)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('acme is no plugin'),
      }),
    );
  });

  it('lets the host refuse a name that is no id', async () => {
    const host = createPluginHost({ registry: new DefaultToolRegistry() });
    await expect(host.load(pluginOf('../x', { activate }))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});

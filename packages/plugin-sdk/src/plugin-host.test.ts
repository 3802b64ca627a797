import { DefaultToolRegistry, DefaultToolResultReducerRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { definePlugin, type Plugin, type PluginApi } from './plugin.js';
import { createPluginHost } from './plugin-host.js';
import { defineTool, ok } from './tool-helpers.js';

function toolNamed(name: string, value = name) {
  return defineTool({
    name,
    description: 'A probe.',
    schema: { type: 'object' },
    capabilities: {},
    execute: async () => ok(value),
  });
}

const reducerOf = (toolName: string) => ({ toolName, reduce: () => ok('reduced') });

function setUp() {
  const registry = new DefaultToolRegistry();
  const reducers = new DefaultToolResultReducerRegistry();
  const logged: Array<[string, unknown]> = [];
  const log = (message: string, error: unknown) => void logged.push([message, error]);
  const host = createPluginHost({ registry, reducers, log });
  const names = () => registry.list().map(({ name }) => name);
  return { registry, reducers, logged, host, names };
}

describe('createPluginHost', () => {
  const registry = new DefaultToolRegistry();
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object for a registry', { registry: {} }],
    ['a promise of a registry', { registry: Promise.resolve(registry) }],
    ['an object for reducers', { registry, reducers: {} }],
    ['a log that is a text', { registry, log: 'x' }],
  ])('refuses %s', (_what, options) => {
    const create: (options: unknown) => unknown = Object(createPluginHost);
    expect(() => create(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});

describe('PluginHost.load', () => {
  it('registers the tools of a plugin under its id', async () => {
    const { host, registry } = setUp();
    await host.load({ id: 'weather', activate: (api) => api.registerTool(toolNamed('forecast')) });
    expect(registry.get('forecast')?.name).toBe('forecast');
    const offered = (allowedPlugins: string[]) =>
      registry.toDefinitions(undefined, { allowedPlugins }).map(({ name }) => name);
    expect(offered(['weather'])).toEqual(['forecast']);
    expect(offered([])).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['a name', '@acme/greetings'],
    ['the exports of a package', { default: { activate() {} } }],
    ['a plugin without an id', { activate() {} }],
    ['nothing', undefined],
  ])('says how to import a plugin where it gets %s', async (_, given) => {
    const plugin = given as Plugin;
    await expect(setUp().host.load(plugin)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining("pluginOf('@acme/greetings', await import("),
    });
  });

  it('waits for an activation that is asynchronous', async () => {
    const { host, names } = setUp();
    await host.load({
      id: 'slow',
      async activate(api) {
        await new Promise((resolve) => setImmediate(resolve));
        api.registerTool(toolNamed('late'));
      },
    });
    expect(names()).toEqual(['late']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('half-way');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('half-way');
      },
    ],
  ])('leaves nothing of a plugin whose activate %s', async (_how, fail) => {
    const { host, reducers, names } = setUp();
    const released: string[] = [];
    let deactivated = false;
    let api: PluginApi | undefined;
    const load = host.load({
      id: 'broken',
      activate(given) {
        api = given;
        given.registerTool(toolNamed('first'));
        given.registerReducer(reducerOf('first'));
        given.onUnload(() => void released.push('a'));
        given.onUnload(() => void released.push('b'));
        return fail();
      },
      deactivate: () => {
        deactivated = true;
      },
    });
    await expect(load).rejects.toThrow('half-way');
    expect(names()).toEqual([]);
    expect(reducers.get('first')).toBeUndefined();
    expect(released).toEqual(['b', 'a']);
    expect(deactivated).toBe(false);
    expect(host.list()).toEqual([]);
    expect(() => api?.registerTool(toolNamed('again'))).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
    await host.load({ id: 'broken', activate: (given) => given.registerTool(toolNamed('first')) });
    expect(names()).toEqual(['first']);
  });

  it('refuses a plugin that claims the tool of another, and leaves that tool alone', async () => {
    const { host, registry, names } = setUp();
    await host.load({ id: 'one', activate: (api) => api.registerTool(toolNamed('shared', 'one')) });
    const load = host.load({
      id: 'two',
      activate(api) {
        api.registerTool(toolNamed('own'));
        api.registerTool(toolNamed('shared', 'two'));
      },
    });
    await expect(load).rejects.toMatchObject({ code: 'TOOL_NAME_TAKEN' });
    expect(names()).toEqual(['shared']);
    expect(host.list()).toEqual([{ id: 'one', tools: ['shared'] }]);
    expect(await run(registry, 'shared')).toEqual(ok('one'));
  });

  it('refuses a plugin that claims a tool of the host, such as terminal', async () => {
    const { host, registry, names } = setUp();
    registry.register(toolNamed('terminal'));
    const load = host.load({
      id: 'evil',
      activate: (api) => api.registerTool(toolNamed('terminal')),
    });
    await expect(load).rejects.toMatchObject({ code: 'TOOL_NAME_TAKEN' });
    expect(names()).toEqual(['terminal']);
  });

  it('refuses a second reducer of a tool, and leaves the first', async () => {
    const { host, reducers } = setUp();
    const first = reducerOf('shared');
    reducers.register(first);
    const load = host.load({
      id: 'two',
      activate: (api) => api.registerReducer(reducerOf('shared')),
    });
    await expect(load).rejects.toMatchObject({ code: 'REDUCER_NAME_TAKEN' });
    expect(reducers.get('shared')).toBe(first);
  });

  it('refuses a reducer where the host has no registry of them', async () => {
    const host = createPluginHost({ registry: new DefaultToolRegistry() });
    const load = host.load({ id: 'p', activate: (api) => api.registerReducer(reducerOf('x')) });
    await expect(load).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('refuses an id that is loaded, also while it activates, and keeps the first', async () => {
    const { host, names } = setUp();
    const plugin: Plugin = { id: 'p', activate: (api) => api.registerTool(toolNamed('t')) };
    const twin: Plugin = { id: 'p', activate: (api) => api.registerTool(toolNamed('u')) };
    const outcomes = await Promise.allSettled([host.load(plugin), host.load(twin)]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'CONFIG_INVALID' } },
    ]);
    await expect(host.load(twin)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(names()).toEqual(['t']);
  });

  it.each([
    '',
    ' ',
    'a b',
    '../x',
    'a/b',
    '@/x',
    '@a/',
    '-a',
    'a\n',
    'a'.repeat(129),
    7,
    null,
    undefined,
  ])('refuses the id %j', async (id) => {
    const { host } = setUp();
    const plugin: unknown = { id, activate: () => {} };
    await expect(host.load(plugin as Plugin)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(host.list()).toEqual([]);
  });

  it.each(['weather', '@acme/weather', 'weather.v2_x-1', 'constructor', 'a'.repeat(128)])(
    'takes the id %s',
    async (id) => {
      const { host } = setUp();
      await host.load({ id, activate: () => {} });
      expect(host.list()).toEqual([{ id, tools: [] }]);
    },
  );
});

describe('PluginHost.unload', () => {
  it('takes tools and reducers away, then runs releases last first, then deactivate', async () => {
    const { host, reducers, names } = setUp();
    const order: string[] = [];
    await host.load({
      id: 'p',
      activate(api) {
        api.registerTool(toolNamed('t'));
        api.registerReducer(reducerOf('t'));
        api.onUnload(() => void order.push('first'));
        api.onUnload(async () => {
          order.push(`second ${names().length} ${String(reducers.get('t'))}`);
        });
      },
      deactivate: () => void order.push('deactivate'),
    });
    expect(await host.unload('p')).toBe(true);
    expect(order).toEqual(['second 0 undefined', 'first', 'deactivate']);
    expect(host.list()).toEqual([]);
    expect(await host.unload('p')).toBe(false);
  });

  it('leaves the tools of others', async () => {
    const { host, registry, names } = setUp();
    registry.register(toolNamed('builtin'));
    await host.load({ id: 'p', activate: (api) => api.registerTool(toolNamed('mine')) });
    await host.load({ id: 'q', activate: (api) => api.registerTool(toolNamed('theirs')) });
    await host.unload('p');
    expect(names()).toEqual(['builtin', 'theirs']);
  });

  it('goes on when a release or deactivate throws, and logs it', async () => {
    const { host, logged, names } = setUp();
    const ran: string[] = [];
    await host.load({
      id: 'p',
      activate(api) {
        api.registerTool(toolNamed('t'));
        api.onUnload(() => void ran.push('kept'));
        api.onUnload(() => {
          throw new Error('sync');
        });
        api.onUnload(() => Promise.reject(new Error('async')));
      },
      deactivate: () => {
        throw new Error('last');
      },
    });
    expect(await host.unload('p')).toBe(true);
    expect(ran).toEqual(['kept']);
    expect(logged.map(([, error]) => String(error))).toEqual([
      'Error: async',
      'Error: sync',
      'Error: last',
    ]);
    expect(logged[0]?.[0]).toContain('p');
    expect(names()).toEqual([]);
  });

  it('leaves the api dead', async () => {
    const { host, reducers, names } = setUp();
    let api: PluginApi | undefined;
    await host.load({
      id: 'p',
      activate: (given) => {
        api = given;
      },
    });
    await host.unload('p');
    const dead = expect.objectContaining({ code: 'CONFIG_INVALID' });
    expect(() => api?.registerTool(toolNamed('t'))).toThrow(dead);
    expect(() => api?.registerReducer(reducerOf('t'))).toThrow(dead);
    expect(() => api?.onUnload(() => {})).toThrow(dead);
    expect(names()).toEqual([]);
    expect(reducers.get('t')).toBeUndefined();
  });

  it('keeps the old api dead when the plugin is loaded again', async () => {
    const { host } = setUp();
    const apis: PluginApi[] = [];
    const plugin = definePlugin({ id: 'p', activate: (api) => void apis.push(api) });
    await host.load(plugin);
    await host.unload('p');
    await host.load(plugin);
    expect(() => apis[0]?.registerTool(toolNamed('old'))).toThrow();
    apis[1]?.registerTool(toolNamed('new'));
    expect(host.list()).toEqual([{ id: 'p', tools: ['new'] }]);
  });

  it('ends a plugin that is still activating, whose load then rejects', async () => {
    const { host, names } = setUp();
    let proceed = () => {};
    const load = host.load({
      id: 'p',
      async activate(api) {
        api.registerTool(toolNamed('early'));
        await new Promise<void>((resolve) => {
          proceed = resolve;
        });
      },
    });
    expect(host.list()).toEqual([]);
    expect(await host.unload('p')).toBe(true);
    expect(names()).toEqual([]);
    proceed();
    await expect(load).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await host.load({ id: 'p', activate: () => {} });
  });

  it('twice at once takes down once', async () => {
    const { host } = setUp();
    let released = 0;
    await host.load({
      id: 'p',
      activate: (api) =>
        api.onUnload(async () => {
          released += 1;
        }),
    });
    expect(await Promise.all([host.unload('p'), host.unload('p')])).toEqual([true, false]);
    expect(released).toBe(1);
  });
});

describe('PluginHost.list', () => {
  it('tells id, name, version and tools, in order of loading', async () => {
    const { host } = setUp();
    await host.load({
      id: 'b',
      name: 'Bee',
      version: '1.2.3',
      activate(api) {
        api.registerTool(toolNamed('t'));
        api.registerTool(toolNamed('u'));
        api.registerTool(toolNamed('t', 'replaced'));
      },
    });
    await host.load({ id: 'a', activate: () => {} });
    expect(host.list()).toEqual([
      { id: 'b', name: 'Bee', version: '1.2.3', tools: ['t', 'u'] },
      { id: 'a', tools: [] },
    ]);
  });
});

async function run(registry: DefaultToolRegistry, name: string) {
  const ctx = {
    sessionId: 's',
    sessionKey: 'test:s',
    platform: 'test',
    workingDir: '/',
    currentTurn: 1,
    messageCount: 0,
    abortSignal: new AbortController().signal,
    emit: () => {},
  };
  const [answer] = await registry.executeParallel([{ toolCallId: 'c1', name, args: {} }], ctx);
  return answer?.result;
}

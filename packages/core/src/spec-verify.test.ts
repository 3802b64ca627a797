import type { Tool, ToolResult } from '@ethosagent/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { resolveCapabilities } from './capability-resolver.js';
import { ScopedFsImpl } from './scoped/index.js';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

afterEach(() => vi.unstubAllGlobals());

describe('the Verify sections, as written', () => {
  it('Add a filesystem tool', async () => {
    const storage = { read: vi.fn(), write: vi.fn(), exists: vi.fn(), list: vi.fn() };
    const scopedFs = new ScopedFsImpl(storage, new Set(['/allowed']), new Set(['/allowed']));

    await expect(scopedFs.read('/allowed/file.txt')).resolves.not.toThrow();
    await expect(scopedFs.read('/forbidden/file.txt')).rejects.toThrow('PATH_NOT_REACHABLE');
  });

  it('Add a network tool', async () => {
    const weatherTool: Tool = {
      name: 'weather',
      description: 'Look up current weather for a city.',
      toolset: 'web',
      capabilities: {
        network: { allowedHosts: ['api.openweathermap.org'] },
        secrets: ['providers/openweather/apiKey'],
      },
      schema: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
      async execute(args, ctx): Promise<ToolResult> {
        const { city } = args as { city: string };
        if (!city) return { ok: false, error: 'city is required', code: 'input_invalid' };
        const net = ctx.scopedFetch;
        const secrets = ctx.secretsResolver;
        if (!net || !secrets) {
          return { ok: false, error: 'Capability backends not configured', code: 'not_available' };
        }
        const apiKey = await secrets.get('providers/openweather/apiKey');
        const url = `https://api.openweathermap.org/data/2.5/weather?q=${encodeURIComponent(city)}&appid=${apiKey}&units=metric`;
        const response = await net.fetch(url, { signal: ctx.abortSignal });
        if (!response.ok) {
          return { ok: false, error: `API ${response.status}`, code: 'execution_failed' };
        }
        const data = (await response.json()) as {
          main: { temp: number };
          weather: Array<{ description: string }>;
        };
        return {
          ok: true,
          value: `${city}: ${data.main.temp}C, ${data.weather[0]?.description ?? ''}`,
        };
      },
    };
    const urls: string[] = [];
    vi.stubGlobal('fetch', async (url: string | URL) => {
      urls.push(String(url));
      return Response.json({ main: { temp: 11 }, weather: [{ description: 'rain' }] });
    });
    const backends = {
      secretsBackend: async () => 'a-key',
      personalityNetworkAllow: ['*.openweathermap.org'],
    };
    const baseCtx = batchContext();

    const registry = new DefaultToolRegistry(backends);
    registry.register(weatherTool);
    const results = await registry.executeParallel(
      [{ toolCallId: 'c1', name: 'weather', args: { city: 'London' } }],
      baseCtx,
    );
    expect(results[0]?.result.ok).toBe(true);
    expect(results[0]?.result).toEqual(ok('London: 11C, rain'));
    expect(urls).toEqual([
      'https://api.openweathermap.org/data/2.5/weather?q=London&appid=a-key&units=metric',
    ]);
  });

  it('Add a stateful tool', () => {
    const store = new Map<string, string>();
    const mockKv = {
      get: vi.fn((k: string) => Promise.resolve(store.get(k) ?? null)),
      set: vi.fn((k: string, v: string) => {
        store.set(k, v);
        return Promise.resolve();
      }),
      delete: vi.fn((k: string) => {
        store.delete(k);
        return Promise.resolve();
      }),
      list: vi.fn((prefix: string) =>
        Promise.resolve([...store.keys()].filter((k) => k.startsWith(prefix))),
      ),
    };

    const backends = { kvStoreFactory: vi.fn().mockReturnValue(mockKv) };
    const result = resolveCapabilities(
      'usage_counter',
      { storage: { scope: 'tool-private', kind: 'kv' } },
      { sessionId: 'sess-1' },
      backends,
    );

    expect(result.kvStore).toBeDefined();
    expect(backends.kvStoreFactory).toHaveBeenCalledWith('usage_counter', 'tool:usage_counter');
  });

  it('Add a filesystem tool, step 3: an error of scopedFs becomes a failure that the model can act on', async () => {
    const registry = new DefaultToolRegistry({
      storage: untyped({ read: vi.fn(), write: vi.fn(), exists: vi.fn(), list: vi.fn() }),
      personalityFsReach: { read: ['/allowed'], write: ['/allowed'] },
    });
    registry.register(
      makeTool(
        't',
        async (args, ctx) => {
          try {
            return ok((await ctx.scopedFs?.read(Object(args).path)) ?? 'nothing');
          } catch (err) {
            if (err instanceof Error && err.message.startsWith('PATH_NOT_REACHABLE')) {
              return { ok: false, error: err.message, code: 'execution_failed' };
            }
            throw err;
          }
        },
        { capabilities: { fs_reach: { read: 'from-personality', write: 'from-personality' } } },
      ),
    );
    expect(await runOne(registry, 't', { path: '/etc/passwd' })).toEqual({
      ok: false,
      code: 'execution_failed',
      error: 'PATH_NOT_REACHABLE: read not permitted for /etc/passwd',
    });
  });
});

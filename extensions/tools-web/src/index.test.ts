import { readdirSync, readFileSync } from 'node:fs';
import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import * as toolsWeb from './index.js';

describe('@ethosagent/tools-web', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsWeb).sort()).toEqual([
      'braveSearch',
      'createFetchUrlTool',
      'createWebSearchTool',
      'createWebTools',
      'exaSearch',
      'fetchUrlTool',
      'searxngSearch',
      'tavilySearch',
    ]);
  });

  it('declares no more than it needs', () => {
    const [fetchUrl, webSearch] = toolsWeb.createWebTools();
    expect(fetchUrl?.capabilities).toEqual({
      network: { allowedHosts: ['*'] },
      storage: { scope: 'tool-private', kind: 'kv', concurrency: 'parallel' },
    });
    expect(Object.keys(webSearch?.capabilities ?? {})).toEqual(['network', 'secrets']);
    for (const tool of [fetchUrl, webSearch]) {
      expect(tool).toMatchObject({
        toolset: 'web',
        outputIsUntrusted: true,
        supportsDryRun: true,
      });
    }
  });

  it('fits a personality that allows the hosts, with definitions a model can be given', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsWeb.createWebTools());
    const personality = { id: 'p', name: 'P', safety: { network: { allow: ['*'] } } };
    expect(registry.validateToolsForPersonality(personality)).toEqual([]);
    for (const { parameters } of registry.toDefinitions()) {
      expect(parameters).toMatchObject({ type: 'object' });
    }
  });

  const sources = readdirSync(import.meta.dirname).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  it.each(sources)('%s loads what is heavy only when it is needed', (name) => {
    const source = readFileSync(`${import.meta.dirname}/${name}`, 'utf8');
    const loaded = [...source.matchAll(/^import (?!type).*? from '([^'.]+)';$/gms)].map(
      ([, specifier]) => specifier,
    );
    const light = [
      // The registry has loaded it already.
      '@ethosagent/policy',
      '@ethosagent/plugin-sdk',
      '@ethosagent/types',
      'zod',
      'node:crypto',
      'node:worker_threads',
    ];
    expect(loaded.filter((specifier) => !light.includes(specifier ?? ''))).toEqual([]);
  });
});

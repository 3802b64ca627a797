import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import * as toolsBrowser from './index.js';

const READ = { read: 'from-personality' };

describe('@ethosagent/tools-browser', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsBrowser).sort()).toEqual(['browserSettings', 'createBrowserTools']);
  });

  const tools: [name: string, capabilities: object, effects: string[]][] = [
    [
      'browser_navigate',
      {
        network: { allowedHosts: ['*'] },
        process: { allowedBinaries: ['*'] },
        service: { scope: 'session' },
      },
      ['send'],
    ],
    ['browser_snapshot', {}, []],
    ['browser_find', {}, []],
    ['browser_click', {}, ['send']],
    ['browser_type', {}, ['send']],
    ['browser_fill', {}, ['send']],
    ['browser_select', {}, ['send']],
    ['browser_press', {}, ['send']],
    ['browser_hover', {}, ['send']],
    ['browser_drag', {}, ['send']],
    ['browser_dialog', {}, ['send']],
    ['browser_scroll', {}, []],
    ['browser_back', {}, ['send']],
    ['browser_tabs', {}, []],
    ['browser_wait', {}, []],
    ['browser_console', {}, []],
    ['browser_network', {}, []],
    ['browser_evaluate', {}, ['send']],
    ['browser_screenshot', {}, []],
    ['browser_save', { fs_reach: { ...READ, write: 'from-personality' } }, ['write']],
    ['browser_upload', { fs_reach: READ }, ['send']],
    ['browser_download', { fs_reach: { ...READ, write: 'from-personality' } }, ['send', 'write']],
    ['browser_close', {}, []],
  ];
  it.each(tools)('%s declares no more than it needs', (name, capabilities, effects) => {
    const tool = toolsBrowser.createBrowserTools().find((candidate) => candidate.name === name);
    expect(tool?.capabilities).toEqual(capabilities);
    expect(tool?.effects).toEqual(effects);
    expect(tool).toMatchObject({
      toolset: 'browser',
      settingsKey: 'browser',
      outputIsUntrusted: true,
      supportsDryRun: true,
    });
  });

  it('has no other tools, and definitions a model can be given', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsBrowser.createBrowserTools());
    expect(registry.toDefinitions().map(({ name }) => name)).toEqual(tools.map(([name]) => name));
    for (const { parameters } of registry.toDefinitions()) {
      expect(parameters).toMatchObject({ type: 'object' });
    }
  });
});

import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import * as toolsFile from './index.js';

describe('@ethosagent/tools-file', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsFile).sort()).toEqual([
      'boundaryFailure',
      'createFileTools',
      'createSearchFilesTool',
      'patchFileTool',
      'readFileTool',
      'searchFilesTool',
      'writeFileTool',
    ]);
  });

  const capabilities: [name: string, fsReach: object, startsProcess: boolean][] = [
    ['read_file', { read: 'from-personality' }, false],
    ['write_file', { read: 'from-personality', write: 'from-personality' }, false],
    ['patch_file', { read: 'from-personality', write: 'from-personality' }, false],
    ['search_files', { read: 'from-personality' }, true],
  ];
  it.each(capabilities)('%s declares no more than it needs', (name, fsReach, startsProcess) => {
    const tool = toolsFile.createFileTools().find((candidate) => candidate.name === name);
    expect(tool?.capabilities.fs_reach).toEqual(fsReach);
    expect(Object.keys(tool?.capabilities ?? {})).toEqual(
      startsProcess ? ['fs_reach', 'process'] : ['fs_reach'],
    );
    expect(tool?.outputIsUntrusted).toBe(true);
    expect(tool?.toolset).toBe('file');
  });

  it('lets a host bring its own ripgrep', () => {
    const [, , , search] = toolsFile.createFileTools({ ripgrepPath: '/opt/rg' });
    expect(search?.capabilities.process).toEqual({ allowedBinaries: ['/opt/rg'] });
  });

  it('fits a personality that reaches something, with definitions a model can be given', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsFile.createFileTools());
    expect(
      registry.validateToolsForPersonality({
        id: 'p',
        name: 'P',
        fs_reach: { read: ['/data'], write: ['/data'] },
      }),
    ).toEqual([]);
    for (const { parameters } of registry.toDefinitions()) {
      expect(parameters).toMatchObject({ type: 'object' });
    }
  });
});

import { DefaultToolRegistry } from '@ethosagent/core';
import type { ToolCapabilities } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import * as toolsCode from './index.js';

const REACH = { read: 'from-personality', write: 'from-personality' } as const;

describe('@ethosagent/tools-code', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsCode).sort()).toEqual([
      'createCodeTools',
      'lintTool',
      'readFileReducer',
      'runCodeTool',
      'runTestsTool',
      'typecheckTool',
    ]);
  });

  const capabilities: [name: string, declared: ToolCapabilities][] = [
    [
      'lint',
      {
        fs_reach: REACH,
        process: { allowedBinaries: ['sh', 'node', 'python3', 'ruff', 'cargo', 'go'] },
      },
    ],
    [
      'typecheck',
      { fs_reach: REACH, process: { allowedBinaries: ['node', 'python3', 'mypy', 'cargo', 'go'] } },
    ],
    [
      'run_tests',
      {
        fs_reach: REACH,
        process: { allowedBinaries: ['sh', 'node', 'python3', 'cargo', 'go', 'gradle'] },
      },
    ],
    [
      'run_code',
      {
        process: { allowedBinaries: ['python3', 'node', 'bash'], sandbox: 'required' },
        calls: { tools: 'from-settings' },
      },
    ],
  ];
  it.each(capabilities)('%s declares what it needs and no more', (name, declared) => {
    const tool = toolsCode.createCodeTools().find((candidate) => candidate.name === name);
    expect(tool?.capabilities).toEqual(declared);
    expect(tool).toMatchObject({ outputIsUntrusted: true, supportsDryRun: true, toolset: 'code' });
  });

  it('fits a personality that reaches something, with definitions a model can be given', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsCode.createCodeTools());
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

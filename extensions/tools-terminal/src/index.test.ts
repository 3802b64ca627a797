import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import * as toolsTerminal from './index.js';

describe('@ethosagent/tools-terminal', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsTerminal).sort()).toEqual([
      'commandPolicySchema',
      'createTerminalReadTool',
      'createTerminalSendKeysTool',
      'createTerminalStartTool',
      'createTerminalStopTool',
      'createTerminalTool',
      'createTerminalTools',
      'judgeCommand',
      'terminalReducer',
    ]);
  });

  const reach = { read: 'from-personality', write: 'from-personality' };
  const capabilities: [name: string, expected: object][] = [
    ['terminal', { process: { allowedBinaries: ['bash'] }, fs_reach: reach }],
    [
      'terminal_start',
      { process: { allowedBinaries: ['bash'], background: true }, fs_reach: reach },
    ],
    ['terminal_read', { process: { allowedBinaries: ['bash'], background: true } }],
    ['terminal_send_keys', { process: { allowedBinaries: ['bash'], background: true } }],
    ['terminal_stop', { process: { allowedBinaries: ['bash'], background: true } }],
  ];
  it.each(capabilities)('%s declares no more than it needs', (name, expected) => {
    const tool = toolsTerminal.createTerminalTools().find((candidate) => candidate.name === name);
    expect(tool?.capabilities).toEqual(expected);
    expect(tool?.toolset).toBe('terminal');
    expect(tool?.supportsDryRun).toBe(true);
  });

  it('fits a personality that reaches something, with definitions a model can be given', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsTerminal.createTerminalTools());
    const personality = { id: 'p', name: 'P', fs_reach: { read: ['/data'], write: ['/data'] } };
    expect(registry.validateToolsForPersonality(personality)).toEqual([]);
    for (const { parameters } of registry.toDefinitions()) {
      expect(parameters).toMatchObject({ type: 'object' });
    }
  });

  it("takes a host's policy for personalities that set none", () => {
    const [terminal] = toolsTerminal.createTerminalTools({ policy: { default: 'deny' } });
    expect(terminal?.settings?.parse({})).toMatchObject({
      settings: { policy: { default: 'deny' } },
    });
    expect(terminal?.settings?.parse({ policy: {} })).toMatchObject({
      settings: { policy: { default: 'allow' } },
    });
  });
});

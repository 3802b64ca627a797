import { validateDeclaration } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import { createDelegationTools } from './delegation-tools.js';

describe('createDelegationTools', () => {
  it.each(createDelegationTools().map((tool) => [tool.name, tool] as const))(
    '%s declares delegation and nothing else',
    (name, tool) => {
      expect(tool.toolset).toBe('delegation');
      expect(Object.keys(tool.capabilities)).toEqual(['delegation']);
      const outlives = name !== 'task' && name !== 'read_quarantined';
      expect(tool.capabilities.delegation?.background === true).toBe(outlives);
      expect(validateDeclaration(tool.capabilities)).toEqual([]);
      // A sub-agent's own calls are asked about; what it says is somebody's text.
      expect(tool.effects).toEqual([]);
      expect(tool.outputIsUntrusted === true).toBe(name === 'task' || name === 'task_result');
      expect(tool.supportsDryRun).toBe(true);
    },
  );
});

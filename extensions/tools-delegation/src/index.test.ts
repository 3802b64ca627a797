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
      // The calls of a sub-agent are gated on their own. Its answer is untrusted text.
      expect(tool.effects).toEqual([]);
      expect(tool.outputIsUntrusted === true).toBe(name === 'task' || name === 'task_result');
      expect(tool.supportsDryRun).toBe(true);
    },
  );
});

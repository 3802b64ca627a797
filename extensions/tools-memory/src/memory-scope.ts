import { err } from '@ethosagent/plugin-sdk';
import type { MemoryScope, ScopedMemory, ToolResult } from '@ethosagent/types';
import { z } from 'zod';

export const memoryScopeSchema = z.enum(['personality', 'user', 'team', 'global']);

/** The refusal of a scope that this call does not have; `undefined` when it has it. */
export function scopeMissing(memory: ScopedMemory, scope: MemoryScope): ToolResult | undefined {
  if (memory.scopes.includes(scope)) return undefined;
  const there = memory.scopes.length === 0 ? 'no scope' : memory.scopes.join(', ');
  return err(
    `MEMORY_SCOPE_NOT_AVAILABLE: This call has no ${scope} memory; it has ${there}.`,
    'execution_failed',
    'MEMORY_SCOPE_NOT_AVAILABLE',
  );
}

import { err } from '@ethosagent/plugin-sdk';
import type { MemoryScope, ScopedMemory, ToolResult } from '@ethosagent/types';
import { z } from 'zod';

export const memoryScopeSchema = z.enum(['personality', 'user', 'team', 'global']);

/** Returns a refusal when the call does not have this scope, else `undefined`. */
export function scopeMissing(memory: ScopedMemory, scope: MemoryScope): ToolResult | undefined {
  if (memory.scopes.includes(scope)) return undefined;
  const next =
    memory.scopes.length === 0
      ? 'It has no memory at all: go on without it, and tell the user.'
      : `Give another scope: ${memory.scopes.join(', ')}.`;
  return err(
    `MEMORY_SCOPE_NOT_AVAILABLE: This call has no ${scope} memory. ${next}`,
    'execution_failed',
    'MEMORY_SCOPE_NOT_AVAILABLE',
  );
}

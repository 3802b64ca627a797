import type { AuditCall } from '@ethosagent/types';

/**
 * Returns the name of a tool, or `(unknown)` if the tool does not exist. A model can invent any
 * number of names, and each would become the name of a span and a time series of its own.
 */
export function knownToolName({ toolName, cause }: AuditCall): string {
  return cause === 'TOOL_NOT_FOUND' ? '(unknown)' : toolName;
}

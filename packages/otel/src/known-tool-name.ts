import type { AuditCall } from '@ethosagent/types';

/**
 * The name of a tool, where there is such a tool. A model can make up any number of names, and each
 * would be a span name and a time series of its own.
 */
export function knownToolName({ toolName, cause }: AuditCall): string {
  return cause === 'TOOL_NOT_FOUND' ? '(unknown)' : toolName;
}

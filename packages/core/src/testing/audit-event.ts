import type { AuditEvent } from '@ethosagent/types';

/** An event of which only the target matters. */
export function auditEvent(target: string): AuditEvent {
  return {
    time: '2026-01-02T03:04:05.006Z',
    sessionId: 's',
    toolName: 't',
    toolCallId: 'c',
    capability: 'storage',
    operation: 'get',
    target,
    decision: 'allowed',
    reason: 'inside the reach',
  };
}

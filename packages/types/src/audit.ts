import type { CapabilityName } from './tool-capabilities.js';

/** One access by a tool. Holds no secret's value and no file's content. */
export interface AuditEvent {
  /** ISO 8601, UTC. */
  time: string;
  sessionId: string;
  personalityId?: string;
  toolName: string;
  toolCallId: string;
  capability: CapabilityName;
  /** The accessor's method: `fetch`, `get`, `read`, `spawn`, … */
  operation: string;
  /** Origin and path, secret ref, key, file path or binary. */
  target: string;
  decision: 'allowed' | 'denied';
  /** The rule that decided. */
  reason: string;
}

/** Where audit events go. An access whose event can't be recorded is refused. */
export interface AuditSink {
  record(event: AuditEvent): void;
  /**
   * Called when an access is over that was recorded, and whose end is known: with the very event,
   * and the milliseconds since the access was asked for. What it throws is ignored: the access has
   * happened.
   */
  completed?(event: AuditEvent, durationMs: number): void;
}

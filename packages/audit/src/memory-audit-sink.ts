import type { AuditEvent, AuditSink } from '@ethosagent/types';

/** An audit sink that keeps its events in memory, oldest first. */
export class MemoryAuditSink implements AuditSink {
  readonly events: AuditEvent[] = [];

  record(event: AuditEvent): void {
    this.events.push(event);
  }
}

import type { AuditCall, AuditEvent, AuditSink } from '@ethosagent/types';

/** An audit sink that keeps its events in memory, the oldest first. */
export class MemoryAuditSink implements AuditSink {
  readonly events: AuditEvent[] = [];
  readonly calls: AuditCall[] = [];

  record(event: AuditEvent): void {
    this.events.push(event);
  }

  call(event: AuditCall): void {
    this.calls.push(event);
  }
}

import { discard, isThenable } from '@ethosagent/policy';
import type { AuditSink } from '@ethosagent/types';

/**
 * One sink of several. Each gets every event, in this order, whatever the others do.
 *
 * `record` throws what the first of them threw, so that the access is refused. By then the others
 * have recorded it. A sink that returns a promise counts as one that threw.
 *
 * @param sinks one or more
 * @returns the sink
 */
export function teeAuditSink(...sinks: readonly AuditSink[]): AuditSink {
  const flushed = sinks.filter((sink) => sink.flush !== undefined);
  return {
    ...(flushed.length > 0 && {
      async flush() {
        await Promise.all(flushed.map((sink) => sink.flush?.()));
      },
    }),
    record(event) {
      toEach(sinks, (sink) => sink.record(event));
    },
    call(event) {
      toEach(sinks, (sink) => sink.call?.(event));
    },
    completed(event, durationMs) {
      for (const sink of sinks) {
        try {
          discard(sink.completed?.(event, durationMs));
        } catch {
          // The access has already happened, and the next sink must still learn how long it took.
        }
      }
    },
  };
}

function toEach(sinks: readonly AuditSink[], record: (sink: AuditSink) => unknown): void {
  const failures: unknown[] = [];
  for (const sink of sinks) {
    try {
      const returned = record(sink);
      if (!isThenable(returned)) continue;
      discard(returned);
      throw new TypeError('an audit sink records before it returns; this one returned a promise');
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

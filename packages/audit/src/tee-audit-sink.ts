import { discard, isThenable } from '@ethosagent/policy';
import type { AuditSink } from '@ethosagent/types';

/**
 * Combines several sinks into one. Each sink gets every event, in the order of the arguments, also
 * if another one throws.
 *
 * If sinks throw, `record` throws the first error after all sinks have run, so that the access is
 * refused. A sink that returns a promise counts as one that threw.
 *
 * @param sinks one or more sinks
 * @returns the combined sink
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

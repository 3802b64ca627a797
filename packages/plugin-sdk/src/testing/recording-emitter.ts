import type { ToolProgressEvent } from '@ethosagent/types';

/** An emitter that keeps the events of a tool. */
export interface RecordingEmitter {
  readonly events: ToolProgressEvent[];
  /** Keeps an event. It is a plain function: pass it as `emit` of a context. */
  emit: (event: ToolProgressEvent) => void;
}

/**
 * Creates an emitter that keeps the progress that a tool reports.
 *
 * @returns `emit`, for a context, and the `events` so far
 */
export function createRecordingEmitter(): RecordingEmitter {
  const events: ToolProgressEvent[] = [];
  return { events, emit: (event) => void events.push(event) };
}

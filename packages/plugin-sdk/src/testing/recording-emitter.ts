import type { ToolProgressEvent } from '@ethosagent/types';

/** Keeps what a tool emits. */
export interface RecordingEmitter {
  readonly events: ToolProgressEvent[];
  /** A plain function: pass it as `emit` of a context. */
  emit: (event: ToolProgressEvent) => void;
}

/**
 * Keeps the progress that a tool reports.
 *
 * @returns `emit`, for a context, and the `events` so far
 */
export function createRecordingEmitter(): RecordingEmitter {
  const events: ToolProgressEvent[] = [];
  return { events, emit: (event) => void events.push(event) };
}

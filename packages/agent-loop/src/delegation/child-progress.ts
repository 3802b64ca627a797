import { oneLine } from '@ethosagent/policy';
import type { AgentEvent } from '../api.js';

const MAX_CHARS = 200;

/**
 * The progress that an event of a sub-agent means for those who wait for it; `undefined` for no
 * progress.
 */
export function progressOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'tool_start':
      return oneLine(event.toolName, MAX_CHARS);
    case 'tool_progress':
      return event.audience === 'user'
        ? oneLine(`${event.toolName}: ${event.message}`, MAX_CHARS)
        : undefined;
    case 'retry':
      return 'asks the model again';
    default:
      return undefined;
  }
}

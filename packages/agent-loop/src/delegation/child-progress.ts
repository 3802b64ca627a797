import type { AgentEvent } from '../api.js';

const MAX_CHARS = 200;

/** What an event of a sub-agent says to those who wait for it; `undefined` for nothing. */
export function progressOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'tool_start':
      return oneLine(event.toolName);
    case 'tool_progress':
      return event.audience === 'user' ? oneLine(`${event.toolName}: ${event.message}`) : undefined;
    case 'retry':
      return 'asks the model again';
    default:
      return undefined;
  }
}

/** Without what moves a cursor or can't be seen: it goes to terminals. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= MAX_CHARS
    ? line
    : `${line.slice(0, MAX_CHARS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

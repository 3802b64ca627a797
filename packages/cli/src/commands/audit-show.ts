import { auditEvents, eventTeller } from '../audit-events.js';
import { usageError } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeText } from '../output.js';

/**
 * Shows all events of one call: its accesses, and its answer, with its arguments if they were
 * recorded.
 */
export async function run({ context, args: [call] }: CommandInput): Promise<number> {
  const { out } = context;
  const tellEvent = eventTeller(context);
  let found = 0;
  for await (const logged of auditEvents(context)) {
    const { event } = logged;
    if (event.toolCallId !== call) continue;
    found += 1;
    tellEvent(logged);
    if (out.isJson || !('kind' in event)) continue;
    out.line(safeText(JSON.stringify(event, null, 2)));
  }
  if (found === 0) {
    throw usageError(
      `no event is of the call ${call}; "ethosagent audit tail" shows the ids of calls`,
    );
  }
  return EXIT.ok;
}

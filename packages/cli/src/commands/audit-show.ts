import type { LoggedEvent } from '@ethosagent/audit';
import { auditEvents, eventTeller } from '../audit-events.js';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeText } from '../output.js';

/**
 * Shows all events of one call: its accesses, and its answer, with its arguments if they were
 * recorded. If no call has the id, it shows those of the session that has it.
 */
export async function run({ context, args: [id] }: CommandInput): Promise<number> {
  const found =
    (await tellThose(context, ({ toolCallId }) => toolCallId === id)) ||
    (await tellThose(context, ({ sessionId }) => sessionId === id));
  if (!found) {
    throw usageError(
      `no event is of the call or the session ${id}; "ethosagent audit tail" shows the ids of both`,
    );
  }
  return EXIT.ok;
}

/** Shows the events that are wanted, and returns whether there are any. */
async function tellThose(
  context: CommandContext,
  isWanted: (event: LoggedEvent['event']) => boolean,
): Promise<boolean> {
  const { out } = context;
  const tellEvent = eventTeller(context);
  let found = false;
  for await (const logged of auditEvents(context)) {
    const { event } = logged;
    if (!isWanted(event)) continue;
    found = true;
    tellEvent(logged);
    if (out.isJson || !('kind' in event)) continue;
    out.line(safeText(JSON.stringify(event, null, 2)));
  }
  return found;
}

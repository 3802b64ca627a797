import type { LoggedEvent } from '@ethosagent/audit';
import { parseUrl } from '@ethosagent/policy';
import { auditEvents, eventTeller } from '../audit-events.js';
import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';

/** Shows the events that match. Exits with 1 if there are none, as grep does. */
export async function run({ context, args: [text], options }: CommandInput): Promise<number> {
  const session = textOption(options, 'session');
  const tool = textOption(options, 'tool');
  const host = textOption(options, 'host')?.toLowerCase();
  const decision = textOption(options, 'decision');
  if (decision !== undefined && decision !== 'allowed' && decision !== 'denied') {
    throw usageError(`--decision: ${decision} is neither allowed nor denied`);
  }
  const wanted = ({ event }: LoggedEvent) =>
    (session === undefined || event.sessionId === session) &&
    (tool === undefined || event.toolName === tool) &&
    (host === undefined || hostOf(event) === host) &&
    (decision === undefined || ('decision' in event && event.decision === decision)) &&
    (text === undefined || holds(event, text.toLowerCase()));
  const tellEvent = eventTeller(context);
  let found = 0;
  for await (const event of auditEvents(context)) {
    if (!wanted(event)) continue;
    found += 1;
    tellEvent(event);
  }
  return found > 0 ? EXIT.ok : EXIT.found;
}

function hostOf(event: LoggedEvent['event']): string | undefined {
  return 'target' in event ? parseUrl(event.target)?.hostname : undefined;
}

function holds(event: LoggedEvent['event'], text: string): boolean {
  return Object.values(event).some((value) =>
    (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
      .toLowerCase()
      .includes(text),
  );
}

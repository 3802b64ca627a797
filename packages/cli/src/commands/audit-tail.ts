import type { AuditLogReader, LoggedEvent } from '@ethosagent/audit';
import { errorCodeOf } from '@ethosagent/types';
import { auditEvents, auditLogReader, eventTeller } from '../audit-events.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { countOption } from '../count-option.js';
import { EXIT } from '../exit-codes.js';
import { folderChanges } from '../folder-changes.js';

const LINES = 20;

/**
 * Shows the newest events of all logs of the home; with `--follow`, also new ones as they are
 * written.
 */
export async function run({ context, options }: CommandInput): Promise<number> {
  const count = countOption(options, 'lines') ?? LINES;
  const tellEvent = eventTeller(context);
  if (!hasOption(options, 'follow')) {
    for (const event of await newest(auditEvents(context), count)) tellEvent(event);
    return EXIT.ok;
  }
  const { reader, folder } = auditLogReader(context);
  if (!(await reader.hasLogs())) context.out.note(`there is no audit log at ${folder} yet`);
  const changes = folderChanges(folder, context.io.signal);
  for (const event of await newest(reader.read(), count)) tellEvent(event);
  for await (const _ of changes) await tellNew(reader, tellEvent);
  return EXIT.ok;
}

async function newest(events: AsyncIterable<LoggedEvent>, count: number): Promise<LoggedEvent[]> {
  const last: LoggedEvent[] = [];
  for await (const event of events) {
    last.push(event);
    // Many at once: all that stay are moved each time.
    if (last.length >= 2 * count) last.splice(0, last.length - count);
  }
  return last.slice(-count);
}

async function tellNew(
  reader: AuditLogReader,
  tellEvent: (event: LoggedEvent) => void,
): Promise<void> {
  try {
    for await (const event of reader.read()) tellEvent(event);
  } catch (error) {
    // The logs were rotated during every attempt. The next look finds the events.
    if (errorCodeOf(error) !== 'STORE_UNAVAILABLE') throw error;
  }
}

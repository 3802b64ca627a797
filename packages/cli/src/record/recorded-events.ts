import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type LoggedEvent, readAuditLogs } from '@ethosagent/audit';
import { isLocked } from '@ethosagent/file-lock';
import { errorCodeOf } from '@ethosagent/types';

/** The ends of a home's logs at one moment. */
export interface LogEnds {
  /** The highest number in each log. */
  last: ReadonlyMap<string, number>;
  /** The logs that another process was writing. Its later events don't belong to the run. */
  others: ReadonlySet<string>;
}

/** Records where the logs of a home end now. */
export async function logEnds(home: string): Promise<LogEnds> {
  const last = new Map<string, number>();
  for await (const { log, seq } of events(home)) last.set(log, Math.max(last.get(log) ?? 0, seq));
  return { last, others: new Set(logsOf(home).filter((log) => isLocked(log))) };
}

/** The events since then, and how many of them come from a process that was already running. */
export async function eventsSince(
  home: string,
  { last, others }: LogEnds,
): Promise<{ found: LoggedEvent['event'][]; left: number }> {
  const found: LoggedEvent['event'][] = [];
  let left = 0;
  for await (const { log, seq, event } of events(home)) {
    if (seq <= (last.get(log) ?? 0)) continue;
    if (others.has(log)) left += 1;
    else found.push(event);
  }
  return { found, left };
}

/** All events in the logs of a home. */
export async function* events(home: string): AsyncGenerator<LoggedEvent> {
  try {
    yield* readAuditLogs(join(home, 'audit'));
  } catch (error) {
    if (errorCodeOf(error) !== 'FILE_NOT_FOUND') throw error;
  }
}

function logsOf(home: string): string[] {
  const folder = join(home, 'audit');
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name));
  } catch {
    // There is no log yet.
    return [];
  }
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type LoggedEvent, readAuditLogs } from '@ethosagent/audit';
import { isLocked } from '@ethosagent/file-lock';
import { errorCodeOf } from '@ethosagent/types';

/** Where the logs of a home ended at some time. */
export interface LogEnds {
  /** The highest place in each log. */
  last: ReadonlyMap<string, number>;
  /** The logs that another process was writing. What it does meanwhile is not of the run. */
  others: ReadonlySet<string>;
}

/** Remembers where the logs of a home end now. */
export async function logEnds(home: string): Promise<LogEnds> {
  const last = new Map<string, number>();
  for await (const { log, seq } of events(home)) last.set(log, Math.max(last.get(log) ?? 0, seq));
  return { last, others: new Set(logsOf(home).filter((log) => isLocked(log))) };
}

/** What was logged since then, and how much of it another process did that was there before. */
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

/** All events of the logs of a home; none where there is no log. */
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

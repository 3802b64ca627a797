import { type AuditCall, type AuditEvent, errorCodeOf } from '@ethosagent/types';
import { parseLine } from './chain.js';
import { logsIn, readFirst } from './log-files.js';
import { type OpenFile, openSnapshot } from './log-snapshot.js';
import { readLines } from './read-lines.js';

/** One event of a log. */
export interface LoggedEvent {
  /** The path of the log. */
  log: string;
  /** The number of the event's line in the log, from 1. */
  seq: number;
  /** An access, or a call as a whole. */
  event: AuditEvent | AuditCall;
}

/** An event, and the offset at which its line ends. */
interface ReadEvent extends LoggedEvent {
  file: string;
  end: number;
}

/**
 * Reads every log (`*.jsonl`) of a folder. Each call of `read` yields the events that are new. The
 * reader takes no lock: sinks may write and rotate the logs meanwhile.
 *
 * @example
 * ```ts
 * const reader = new AuditLogReader(join(home, 'audit'));
 * for await (const { event } of reader.read()) console.log(event.toolName);
 * ```
 */
export class AuditLogReader {
  readonly #folder: string;
  /**
   * The byte up to which each file was read. A file keeps its inode and its first line when it is
   * rotated.
   */
  #ends = new Map<string, number>();

  /**
   * Creates a reader that starts at the oldest event.
   *
   * @param folder the folder of the logs, such as `<home>/audit`; it may not exist yet
   */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether the folder has a log. */
  async hasLogs(): Promise<boolean> {
    return (await this.#logs()).length > 0;
  }

  /**
   * Yields the events that were written since the last call. It skips lines that no sink wrote;
   * `verifyAuditLog` reports those. Only one caller may read at a time. A caller that stops early
   * gets the remaining events from the next call.
   *
   * @returns events, ordered by their times across all logs, the oldest first
   * @throws `STORE_UNAVAILABLE` if a sink rotates a log all the time
   */
  async *read(): AsyncGenerator<LoggedEvent> {
    const open: { events: AsyncGenerator<ReadEvent>; next: ReadEvent }[] = [];
    const seen = new Set<string>();
    const advance = async (events: AsyncGenerator<ReadEvent>) => {
      const { done, value } = await events.next();
      if (done !== true) open.push({ events, next: value });
    };
    try {
      for (const log of await this.#logs()) await advance(this.#eventsOf(log, seen));
      for (;;) {
        const [first] = open.sort((a, b) => compare(a.next.event.time, b.next.event.time));
        if (first === undefined) break;
        open.shift();
        const { file, end, ...event } = first.next;
        this.#ends.set(file, end);
        yield event;
        await advance(first.events);
      }
    } finally {
      for (const { events } of open) await events.return(undefined);
    }
    // A new file may have the inode of a file that was removed.
    this.#ends = new Map([...this.#ends].filter(([file]) => seen.has(file)));
  }

  async #logs(): Promise<string[]> {
    return logsIn(this.#folder).catch((error: unknown) => {
      if (errorCodeOf(error) !== undefined || Object(error).code !== 'ENOENT') throw error;
      return [];
    });
  }

  async *#eventsOf(log: string, seen: Set<string>): AsyncGenerator<ReadEvent> {
    const { files, close } = openSnapshot(log, () => 'missing');
    try {
      for (const file of files) if (file.stat.isFile()) yield* this.#eventsIn(file, log, seen);
    } finally {
      close();
    }
  }

  async *#eventsIn(
    { descriptor, stat }: OpenFile,
    log: string,
    seen: Set<string>,
  ): AsyncGenerator<ReadEvent> {
    const file = `${log} ${stat.dev} ${stat.ino} ${readFirst(descriptor)?.hash ?? ''}`;
    seen.add(file);
    const known = this.#ends.get(file) ?? 0;
    let end = known > stat.size ? 0 : known;
    for await (const { bytes, length, isWhole } of readLines(descriptor, end)) {
      // Its sink is still writing this line.
      if (!isWhole) break;
      end += length + 1;
      const line = parseLine(bytes);
      const event = line && parseEvent(bytes);
      if (line !== undefined && event !== undefined) yield { log, seq: line.seq, event, file, end };
    }
    this.#ends.set(file, end);
  }
}

/** An event as a sink wrote it; `undefined` for a line that only says how long an access took. */
function parseEvent(bytes: Buffer): AuditEvent | AuditCall | undefined {
  const { seq: _, prev: __, hash: ___, ...event } = JSON.parse(bytes.toString('utf8'));
  return isEvent(event) ? event : undefined;
}

function isEvent(
  value: Record<string, unknown>,
): value is Record<string, unknown> & (AuditEvent | AuditCall) {
  const { time, sessionId, toolName, toolCallId } = value;
  return [time, sessionId, toolName, toolCallId].every((each) => typeof each === 'string');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

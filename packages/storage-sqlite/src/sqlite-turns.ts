import {
  assertLease,
  assertOptions,
  assertTurnKey,
  checkedSchedule,
  checkedTurn,
  type OptionNames,
  wholeMs,
} from '@ethosagent/policy';
import type { TurnState, TurnStore } from '@ethosagent/types';
import type { SqliteDriver } from './driver/load-driver.js';
import { openStore } from './open-store.js';
import { prepareScheduleTable } from './turns/schedule-table.js';
import { turnOf } from './turns/turn-rows.js';
import { TURN_SCHEMA } from './turns/turn-schema.js';
import { prepareTurnTable } from './turns/turn-table.js';

export interface SqliteTurnsOptions {
  /** The database file, or `:memory:`. It is created (0600) with its missing folders (0700). */
  path: string;
  /** What an acknowledged write survives: `full` (default) a power loss, `normal` a crash. */
  synchronous?: 'full' | 'normal';
  /** The SQLite to use. When absent, better-sqlite3 if it loads, or else that of Node. */
  driver?: SqliteDriver;
  /** Returns milliseconds since the epoch. `Date.now` when absent. */
  clock?: () => number;
  /** Milliseconds that a call waits for locks of other processes. 30,000 when absent. */
  busyTimeoutMs?: number;
}

/** A `TurnStore` in a file. */
export interface SqliteTurns extends TurnStore {
  /** Commits the pending writes, and closes the file. Later calls reject. */
  close: () => void;
}

const KIND = { factory: 'createSqliteTurns', schema: TURN_SCHEMA };

/** A single namespace, so that every call sees all earlier writes. */
const NAMESPACE = 'turns';

const OPTIONS: OptionNames<SqliteTurnsOptions> = {
  path: true,
  synchronous: true,
  driver: true,
  clock: true,
  busyTimeoutMs: true,
};

/**
 * Opens a store of turns in an SQLite file, for the processes of one machine. A fleet takes its
 * turns from it.
 *
 * @param options the path of the file
 * @returns the turns; call `close` at the end
 * @throws `STORE_CORRUPT` if the file is damaged or is not a store of this kind; it is not changed
 * @throws `STORE_NEWER` if a newer version wrote the file; it is not changed
 * @throws `STORE_UNAVAILABLE` if the file can't be opened
 * @throws `CONFIG_INVALID` for an invalid option
 * @example
 * const turns = createSqliteTurns({ path: '/var/lib/agent/turns.db' });
 * const fleet = createFleet({ turns });
 */
export function createSqliteTurns(options: SqliteTurnsOptions): SqliteTurns {
  assertOptions(KIND.factory, options, OPTIONS);
  return openStore(KIND, options, ({ db, queue, clock, read, close }) => {
    const table = prepareTurnTable(db);
    const schedules = prepareScheduleTable(db);
    const reading = async <T>(of: () => T): Promise<T> => read(NAMESPACE, of);
    // One transaction, since it consists of several statements: if one fails, nothing is changed.
    const writing = <T>(of: (now: number) => T): Promise<T> =>
      queue.run(
        NAMESPACE,
        db.transaction(() => of(Math.floor(clock()))),
      );

    return {
      async put(turn) {
        const row = checkedTurn(turn);
        return writing((now) => table.put(row, now));
      },
      async take({ leaseMs }) {
        const lease = assertLease(leaseMs);
        const row = await writing((now) => table.take(now, lease));
        return row === undefined ? null : turnOf(row);
      },
      async extend(taken, { leaseMs }) {
        const lease = assertLease(leaseMs);
        for (const { id } of taken) assertTurnKey(id);
        return writing((now) =>
          taken.flatMap((each) => {
            const isCancelled = table.extend(each, now + lease);
            return isCancelled === undefined ? [] : [{ id: each.id, isCancelled }];
          }),
        );
      },
      async settle(taken, outcome) {
        assertTurnKey(taken.id);
        wholeMs('delayMs', outcome.delayMs ?? 0);
        return writing((now) => table.settle(taken, outcome, now));
      },
      async wake(sessionId, { delayMs = 0 } = {}) {
        assertTurnKey(sessionId);
        wholeMs('delayMs', delayMs);
        return writing((now) => table.wake(sessionId, now + delayMs));
      },
      async cancel(id) {
        assertTurnKey(id);
        return writing((now) => table.cancel(id, now));
      },
      async get(id) {
        assertTurnKey(id);
        return reading(() => {
          const row = table.get(id);
          return row === undefined ? null : turnOf(row);
        });
      },
      async due() {
        return reading(() => {
          const now = Math.floor(clock());
          const { due, nextAt } = table.due(now);
          const next = Math.min(...[nextAt, schedules.nextAt(now)].flatMap((at) => at ?? []));
          return {
            due: due + schedules.due(now).length,
            ...(next !== Number.POSITIVE_INFINITY && { nextInMs: next - now }),
          };
        });
      },
      async counts() {
        const rows = await reading(() => table.counts());
        const of = (state: TurnState) => rows.find((row) => row.state === state)?.count ?? 0;
        return {
          waiting: of('waiting'),
          running: of('running'),
          paused: of('paused'),
          done: of('done'),
          failed: of('failed'),
          cancelled: of('cancelled'),
        };
      },
      async addEvents(taken, events) {
        assertTurnKey(taken.id);
        const rows = events.map((event) => JSON.stringify(event) ?? 'null');
        return writing(() => table.addEvents(taken, rows));
      },
      async events(sessionId, after) {
        assertTurnKey(sessionId);
        wholeMs('after', after);
        const rows = await reading(() => table.events(sessionId, after));
        return rows.map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) }));
      },
      async sweep({ olderThanMs }) {
        wholeMs('olderThanMs', olderThanMs);
        return writing((now) => table.sweep(now, olderThanMs));
      },
      async putSchedule(schedule) {
        const { id, json } = checkedSchedule(schedule);
        return writing(() => schedules.put(id, json));
      },
      async dueSchedules() {
        return reading(() => {
          const now = Math.floor(clock());
          return { now, schedules: schedules.due(now) };
        });
      },
      async moveSchedule(id, opts) {
        assertTurnKey(id);
        return writing(() => schedules.move(id, opts));
      },
      schedules: () => reading(() => schedules.all()),
      async deleteSchedule(id) {
        assertTurnKey(id);
        return writing(() => schedules.remove(id));
      },
      close,
    };
  });
}

import type { StoredSchedule } from '@ethosagent/types';
import type { Connection } from '../driver/connection.js';

interface ScheduleColumns {
  nextAt: number | null;
  lastAt: number | null;
  data: string;
}

/** Prepares the statements on schedules. */
export function prepareScheduleTable(db: Connection) {
  const columns = `next_at AS nextAt, last_at AS lastAt, ${db.text('data')} AS data`;
  const put = db.prepare<[id: string, data: string]>(
    `INSERT INTO schedule (id, data) VALUES (?, ?)
     ON CONFLICT (id) DO UPDATE SET data = excluded.data, next_at = NULL
       WHERE data <> excluded.data`,
  );
  const due = db.prepare<[now: number], ScheduleColumns>(
    `SELECT ${columns} FROM schedule WHERE next_at IS NULL OR next_at <= ?
     ORDER BY next_at LIMIT 100`,
  );
  const next = db.prepareColumn<[now: number], number | null>(
    'SELECT min(next_at) FROM schedule WHERE next_at > ?',
  );
  const move = db.prepare<[isLeftOut: number, to: number, id: string, from: number | null]>(
    `UPDATE schedule SET last_at = CASE WHEN ? THEN last_at ELSE coalesce(next_at, last_at) END,
       next_at = ? WHERE id = ? AND next_at IS ?`,
  );
  const all = db.prepare<[], ScheduleColumns>(`SELECT ${columns} FROM schedule ORDER BY id`);
  const remove = db.prepare<[id: string]>('DELETE FROM schedule WHERE id = ?');
  return {
    put: (id: string, data: string) => Number(put.run(id, data).changes) > 0,
    due: (now: number) => due.all(now).map(scheduleOf),
    nextAt: (now: number) => next.get(now) ?? undefined,
    move(id: string, opts: { from: number | undefined; to: number; isLeftOut?: boolean }): boolean {
      const { from = null, to, isLeftOut = false } = opts;
      return Number(move.run(isLeftOut ? 1 : 0, to, id, from).changes) > 0;
    },
    all: () => all.all().map(scheduleOf),
    remove: (id: string) => Number(remove.run(id).changes) > 0,
  };
}

function scheduleOf({ nextAt, lastAt, data }: ScheduleColumns): StoredSchedule {
  return {
    schedule: JSON.parse(data),
    ...(nextAt !== null && { nextAt }),
    ...(lastAt !== null && { lastAt }),
  };
}

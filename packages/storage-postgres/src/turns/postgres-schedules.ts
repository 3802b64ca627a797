import { assertTurnKey, checkedSchedule } from '@ethosagent/policy';
import type { StoredSchedule, TurnStore } from '@ethosagent/types';
import { type Database, momentFor } from '../database/database.js';
import { scheduleStatements } from './schedule-statements.js';

type Schedules = Pick<
  TurnStore,
  'putSchedule' | 'dueSchedules' | 'moveSchedule' | 'schedules' | 'deleteSchedule'
>;

interface ScheduleRow {
  nextAt: number | null;
  lastAt: number | null;
  data: string;
}

/** Creates the methods for the schedules of a database. */
export function schedulesOf(database: Database): Schedules {
  const statements = scheduleStatements(database.schema);
  const run = <Row extends object>(
    statement: keyof typeof statements,
    ...values: readonly unknown[]
  ): Promise<Row[]> => database.run<Row>(statements[statement], values);
  return {
    async putSchedule(schedule) {
      const { id, json } = checkedSchedule(schedule);
      return (await run('put', Buffer.from(id), json)).length > 0;
    },
    async dueSchedules() {
      const rows = await run<{ now: number } & { [K in keyof ScheduleRow]: ScheduleRow[K] | null }>(
        'due',
        momentFor(database) ?? null,
      );
      const schedules = rows.flatMap(({ data, ...row }) =>
        data === null ? [] : [scheduleOf({ ...row, data })],
      );
      return { now: rows[0]?.now ?? 0, schedules };
    },
    async moveSchedule(id, { from, to, isLeftOut = false }) {
      const key = Buffer.from(assertTurnKey(id));
      return (await run('move', key, from ?? null, to, isLeftOut)).length > 0;
    },
    async schedules() {
      return (await run<ScheduleRow>('all')).map(scheduleOf);
    },
    async deleteSchedule(id) {
      return (await run('remove', Buffer.from(assertTurnKey(id)))).length > 0;
    },
  };
}

function scheduleOf({ nextAt, lastAt, data }: ScheduleRow): StoredSchedule {
  return {
    schedule: JSON.parse(data),
    ...(nextAt !== null && { nextAt }),
    ...(lastAt !== null && { lastAt }),
  };
}

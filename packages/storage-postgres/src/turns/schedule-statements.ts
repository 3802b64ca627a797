import type { Statement } from '../database/database.js';

const COLUMNS = `next_at::float8 AS "nextAt", last_at::float8 AS "lastAt", data`;

/** Returns the statements on schedules. */
export function scheduleStatements(schema: string) {
  const statement = (name: string, text: string, isRepeatable = false): Statement => ({
    name: `ethos_schedule_${name}`,
    text,
    isRepeatable,
  });
  return {
    put: statement(
      'put',
      `INSERT INTO ${schema}.turn_schedule AS s (id, data) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET data = excluded.data, next_at = NULL
         WHERE s.data <> excluded.data RETURNING 1 AS changed`,
    ),
    // An outer join, so that the time is also returned if no schedule is due.
    due: statement(
      'due',
      `SELECT m.now_ms::float8 AS now, s.* FROM ${schema}.moment($1) AS m (now_ms)
       LEFT JOIN LATERAL (SELECT ${COLUMNS} FROM ${schema}.turn_schedule
         WHERE next_at IS NULL OR next_at <= m.now_ms ORDER BY next_at NULLS FIRST LIMIT 100) AS s
         ON true`,
      true,
    ),
    move: statement(
      'move',
      `UPDATE ${schema}.turn_schedule SET next_at = $3,
         last_at = CASE WHEN $4 THEN last_at ELSE coalesce(next_at, last_at) END
       WHERE id = $1 AND next_at IS NOT DISTINCT FROM $2 RETURNING 1 AS moved`,
    ),
    all: statement('all', `SELECT ${COLUMNS} FROM ${schema}.turn_schedule ORDER BY id`, true),
    remove: statement(
      'remove',
      `DELETE FROM ${schema}.turn_schedule WHERE id = $1 RETURNING 1 AS removed`,
    ),
  };
}

import type { Statement } from '../database/database.js';
import { isFree } from '../schema/schedule-tables.js';

const OPEN = `('waiting', 'running', 'paused')`;
const OVER = `('done', 'failed', 'cancelled')`;

const COLUMNS = `id, session_id AS "sessionId", tenant, priority, state, run_at::float8 AS "runAt",
  taking::float8 AS taking, wakes, attempts, losses, max_attempts AS "maxAttempts",
  backoff_ms::float8 AS "backoffMs", was_paused AS "wasPaused",
  is_cancelled AS "isCancelled", message, answer,
  coalesce(after_ids, '{}') AS after, input`;

/** Returns the statements on turns. Their last value is the time of a test's clock, or null. */
export function turnStatements(schema: string) {
  const statement = (name: string, text: string, isRepeatable = false): Statement => ({
    name: `ethos_turn_${name}`,
    text,
    isRepeatable,
  });
  return {
    put: statement(
      'put',
      `WITH of_tenant AS (
         INSERT INTO ${schema}.turn_tenant AS n (name, served)
         VALUES ($3, (SELECT served FROM ${schema}.turn_clock))
         ON CONFLICT (name) DO UPDATE SET served = CASE
           WHEN EXISTS (SELECT 1 FROM ${schema}.turn WHERE tenant = $3 AND state = 'waiting')
           THEN n.served ELSE greatest(n.served, excluded.served) END)
       INSERT INTO ${schema}.turn (id, session_id, tenant, priority, run_at, max_attempts,
         backoff_ms, input, rates, after_ids, changed_at)
       VALUES ($1, $2, $3, $4, ${schema}.moment($11) + $5, $6, $7, $8, $9, $10,
         ${schema}.moment($11))
       ON CONFLICT (id) DO NOTHING RETURNING 1 AS added`,
      // A second execution adds nothing, and reports that the turn already existed.
    ),
    // Takes run one at a time, and none waits for the disk. That is safe: a worker does nothing
    // with a turn until its claim on the session is on the disk, and then everything that was
    // committed before is there too.
    take: statement(
      'take',
      `WITH soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
       SELECT ${COLUMNS} FROM soon CROSS JOIN ${schema}.take_turn($2, $1)`,
    ),
    get: statement('get', `SELECT ${COLUMNS} FROM ${schema}.turn WHERE id = $1`, true),
    extend: statement(
      'extend',
      `WITH mine AS (
         SELECT t.place FROM ${schema}.turn AS t
         JOIN unnest($1::bytea[], $2::bigint[]) AS c (id, taking)
           ON t.id = c.id AND t.taking = c.taking
         WHERE t.state = 'running' ORDER BY t.place FOR UPDATE OF t)
       UPDATE ${schema}.turn AS t SET held_until = ${schema}.moment($4) + $3
       FROM mine WHERE t.place = mine.place RETURNING t.id, t.is_cancelled AS "isCancelled"`,
    ),
    settle: statement(
      'settle',
      `UPDATE ${schema}.turn AS t SET
         state = CASE WHEN $4 = 'paused' AND wakes <> $3 THEN 'waiting' ELSE $4 END,
         run_at = ${schema}.moment($9) + $5,
         attempts = attempts + CASE WHEN $6 THEN 1 ELSE 0 END,
         was_paused = was_paused OR $4 = 'paused',
         message = $7, answer = $8, changed_at = ${schema}.moment($9), held_until = 0
       WHERE id = $1 AND taking = $2 AND state = 'running'
       RETURNING state = 'waiting' OR EXISTS (SELECT 1 FROM ${schema}.turn AS o
         WHERE o.session_id = t.session_id AND o.place > t.place AND o.state = 'waiting')
         OR EXISTS (SELECT 1 FROM ${schema}.turn AS o
           WHERE o.after_ids @> ARRAY[$1::bytea] AND o.state = 'waiting') AS "isMore"`,
    ),
    wake: statement(
      'wake',
      `UPDATE ${schema}.turn SET wakes = wakes + 1,
         run_at = CASE WHEN state = 'running' THEN run_at ELSE ${schema}.moment($3) + $2 END,
         state = CASE WHEN state = 'paused' THEN 'waiting' ELSE state END
       WHERE session_id = $1 AND (state IN ('running', 'paused') OR state = 'waiting' AND was_paused)
       RETURNING 1 AS woken`,
    ),
    cancel: statement(
      'cancel',
      `UPDATE ${schema}.turn SET is_cancelled = true, wakes = wakes + 1,
         state = CASE WHEN state = 'waiting' AND taking = 0 THEN 'cancelled'
           WHEN state = 'paused' THEN 'waiting' ELSE state END,
         run_at = least(run_at, ${schema}.moment($2)), changed_at = ${schema}.moment($2)
       WHERE id = $1 AND state IN ${OPEN} RETURNING 1 AS cancelled`,
    ),
    due: statement(
      'due',
      `SELECT (SELECT count(*) FROM (
           (SELECT 1 FROM ${schema}.turn AS t WHERE t.state = 'waiting' AND t.run_at <= now_ms
             AND ${isFree(schema, 't')} LIMIT 1000)
           UNION ALL
           (SELECT 1 FROM ${schema}.turn WHERE state = 'running' AND held_until <= now_ms LIMIT 1000)
           UNION ALL
           (SELECT 1 FROM ${schema}.turn_schedule
             WHERE next_at IS NULL OR next_at <= now_ms LIMIT 1000)
         ) AS d)::int AS due,
         (least((SELECT min(run_at) FROM ${schema}.turn WHERE state = 'waiting' AND run_at > now_ms),
           (SELECT min(held_until) FROM ${schema}.turn WHERE state = 'running'
             AND held_until > now_ms),
           (SELECT min(next_at) FROM ${schema}.turn_schedule WHERE next_at > now_ms)) - now_ms)::float8 AS "nextInMs"
       FROM ${schema}.moment($1) AS now_ms`,
      true,
    ),
    counts: statement(
      'counts',
      `SELECT state, count(*)::float8 AS count FROM ${schema}.turn GROUP BY state`,
      true,
    ),
    addEvents: statement(
      'add_events',
      `WITH mine AS (
         SELECT place, session_id FROM ${schema}.turn
         WHERE id = $1 AND taking = $2 AND state = 'running' FOR UPDATE),
       added AS (
         INSERT INTO ${schema}.turn_event (session_id, turn, data)
         SELECT session_id, place, e.data
         FROM mine, unnest($3::text[]) WITH ORDINALITY AS e (data, n) ORDER BY e.n)
       SELECT 1 AS mine FROM mine`,
    ),
    events: statement(
      'events',
      `SELECT e.position::float8 AS position, t.id AS "turnId", e.data
       FROM ${schema}.turn_event AS e JOIN ${schema}.turn AS t ON t.place = e.turn
       WHERE e.session_id = $1 AND e.position > $2 ORDER BY e.position LIMIT 1000`,
      true,
    ),
    sweep: statement(
      'sweep',
      `WITH rates AS (DELETE FROM ${schema}.turn_rate WHERE ends_at <= ${schema}.moment($2))
       DELETE FROM ${schema}.turn WHERE place IN (
         SELECT place FROM ${schema}.turn WHERE state IN ${OVER}
           AND changed_at <= ${schema}.moment($2) - $1 ORDER BY changed_at LIMIT 1000)
       RETURNING 1 AS gone`,
      true,
    ),
  };
}

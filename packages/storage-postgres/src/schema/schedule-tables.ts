/**
 * True if no other turn has to come before a turn: neither an earlier turn of its session, nor one
 * that it must follow.
 */
export const isFree = (schema: string, turn: string) => `NOT EXISTS (
    SELECT 1 FROM ${schema}.turn AS o
    WHERE o.session_id = ${turn}.session_id AND o.place < ${turn}.place
      AND o.state IN ('waiting', 'running', 'paused'))
  AND (${turn}.after_ids IS NULL OR NOT EXISTS (
    SELECT 1 FROM ${schema}.turn AS o
    WHERE o.id = ANY (${turn}.after_ids) AND o.state IN ('waiting', 'running', 'paused')))`;

/**
 * Schedules, turns that follow others, and the last answer of the agent. Replaces `take_turn`,
 * which now also checks the turns that a turn must follow.
 */
export const SCHEDULE_TABLES = (schema: string) => `
CREATE TABLE ${schema}.turn_schedule (
  id bytea PRIMARY KEY,
  next_at bigint,
  last_at bigint,
  data text NOT NULL
);
CREATE INDEX turn_schedule_due ON ${schema}.turn_schedule (next_at NULLS FIRST);
ALTER TABLE ${schema}.turn ADD COLUMN answer text, ADD COLUMN after_ids bytea[];
CREATE INDEX turn_after ON ${schema}.turn USING gin (after_ids)
  WHERE state = 'waiting' AND after_ids IS NOT NULL;

CREATE OR REPLACE FUNCTION ${schema}.take_turn(given_moment bigint, lease_ms bigint)
RETURNS SETOF ${schema}.turn
LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint;
  candidate ${schema}.turn;
  rate record;
  wait_until bigint;
  start float8;
BEGIN
  PERFORM pg_advisory_xact_lock(x'4574686f'::int, hashtext('${schema}.turn'));
  now_ms := ${schema}.moment(given_moment);
  SELECT * INTO candidate FROM ${schema}.turn
    WHERE state = 'running' AND held_until <= now_ms ORDER BY held_until LIMIT 1 FOR UPDATE;
  IF FOUND THEN
    RETURN QUERY UPDATE ${schema}.turn SET held_until = now_ms + lease_ms, taking = taking + 1,
      losses = losses + 1, changed_at = now_ms
      WHERE place = candidate.place AND state = 'running' RETURNING *;
    RETURN;
  END IF;
  LOOP
    -- The next of each tenant; then that of the tenant which was served least.
    WITH RECURSIVE waiting AS (
      (SELECT tenant FROM ${schema}.turn WHERE state = 'waiting' ORDER BY tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT tenant FROM ${schema}.turn
        WHERE state = 'waiting' AND tenant > waiting.tenant ORDER BY tenant LIMIT 1)
      FROM waiting WHERE waiting.tenant IS NOT NULL)
    SELECT t.* INTO candidate
      FROM waiting JOIN ${schema}.turn_tenant AS n ON n.name = waiting.tenant CROSS JOIN LATERAL (
        SELECT * FROM ${schema}.turn AS w
        WHERE w.tenant = n.name AND w.state = 'waiting' AND w.run_at <= now_ms
          AND ${isFree(schema, 'w')}
        ORDER BY w.priority, w.place LIMIT 1) AS t
      ORDER BY n.served, t.place LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    wait_until := NULL;
    FOR rate IN SELECT r.key, r.max, r."perMs" AS per_ms, k.ends_at, k.used
      FROM jsonb_to_recordset(coalesce(candidate.rates, '[]')) AS r (key text, max int, "perMs" bigint)
      LEFT JOIN ${schema}.turn_rate AS k ON k.key = convert_to(r.key, 'UTF8')
    LOOP
      IF rate.ends_at > now_ms AND rate.used >= rate.max THEN
        wait_until := greatest(wait_until, rate.ends_at);
      END IF;
    END LOOP;
    EXIT WHEN wait_until IS NULL;
    UPDATE ${schema}.turn SET run_at = wait_until WHERE place = candidate.place;
  END LOOP;
  INSERT INTO ${schema}.turn_rate AS k (key, ends_at, used)
    SELECT DISTINCT ON (r.key) convert_to(r.key, 'UTF8'), now_ms + r."perMs", 1
    FROM jsonb_to_recordset(coalesce(candidate.rates, '[]')) AS r (key text, "perMs" bigint)
    ON CONFLICT (key) DO UPDATE SET
      used = CASE WHEN k.ends_at > now_ms THEN k.used + 1 ELSE 1 END,
      ends_at = CASE WHEN k.ends_at > now_ms THEN k.ends_at ELSE excluded.ends_at END;
  UPDATE ${schema}.turn_tenant SET served = served + 1 WHERE name = candidate.tenant
    RETURNING served - 1 INTO start;
  UPDATE ${schema}.turn_clock SET served = greatest(served, start);
  RETURN QUERY UPDATE ${schema}.turn SET state = 'running', held_until = now_ms + lease_ms,
    taking = taking + 1, changed_at = now_ms
    WHERE place = candidate.place AND state = 'waiting' RETURNING *;
END
$$;
`;

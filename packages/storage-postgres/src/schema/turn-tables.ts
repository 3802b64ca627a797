/**
 * The turns to run. `take_turn` runs one at a time, by a lock that ends with its statement: which
 * tenant is served next, and how much of a rate is left, must be decided for all workers together.
 *
 * Only one turn of a session is taken at a time: the oldest that has not ended. A tenant that
 * returns after a pause gets no extra turns for the time in which it had none.
 */
export const TURN_TABLES = (schema: string) => `
CREATE TABLE ${schema}.turn_tenant (
  name bytea PRIMARY KEY,
  served float8 NOT NULL DEFAULT 0
);
CREATE TABLE ${schema}.turn_clock (served float8 NOT NULL);
INSERT INTO ${schema}.turn_clock VALUES (0);
CREATE TABLE ${schema}.turn_rate (
  key bytea PRIMARY KEY,
  ends_at bigint NOT NULL,
  used int NOT NULL
);
CREATE TABLE ${schema}.turn (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id bytea NOT NULL UNIQUE,
  session_id bytea NOT NULL,
  tenant bytea NOT NULL,
  priority int NOT NULL,
  state text NOT NULL DEFAULT 'waiting',
  run_at bigint NOT NULL,
  held_until bigint NOT NULL DEFAULT 0,
  taking bigint NOT NULL DEFAULT 0,
  wakes int NOT NULL DEFAULT 0,
  attempts int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  max_attempts int NOT NULL,
  backoff_ms bigint NOT NULL,
  was_paused boolean NOT NULL DEFAULT false,
  is_cancelled boolean NOT NULL DEFAULT false,
  changed_at bigint NOT NULL,
  message text,
  input text NOT NULL,
  rates jsonb
);
CREATE INDEX turn_waiting ON ${schema}.turn (tenant, priority, place) WHERE state = 'waiting';
CREATE INDEX turn_running ON ${schema}.turn (held_until) WHERE state = 'running';
CREATE INDEX turn_due ON ${schema}.turn (run_at) WHERE state = 'waiting';
CREATE INDEX turn_open ON ${schema}.turn (session_id, place)
  WHERE state IN ('waiting', 'running', 'paused');
CREATE INDEX turn_over ON ${schema}.turn (changed_at)
  WHERE state IN ('done', 'failed', 'cancelled');
CREATE TABLE ${schema}.turn_event (
  position bigint GENERATED ALWAYS AS IDENTITY,
  session_id bytea NOT NULL,
  turn bigint NOT NULL REFERENCES ${schema}.turn (place) ON DELETE CASCADE,
  data text NOT NULL,
  PRIMARY KEY (session_id, position)
);
CREATE INDEX turn_event_of ON ${schema}.turn_event (turn);

CREATE FUNCTION ${schema}.take_turn(given_moment bigint, lease_ms bigint)
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
    WHERE state = 'running' AND held_until <= now_ms ORDER BY held_until LIMIT 1;
  IF FOUND THEN
    RETURN QUERY UPDATE ${schema}.turn SET held_until = now_ms + lease_ms, taking = taking + 1,
      losses = losses + 1, changed_at = now_ms
      WHERE place = candidate.place RETURNING *;
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
          AND NOT EXISTS (SELECT 1 FROM ${schema}.turn AS o
            WHERE o.session_id = w.session_id AND o.place < w.place
              AND o.state IN ('waiting', 'running', 'paused'))
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

/**
 * `words` contains two facts of a message to filter by, its owner and its session, and then its
 * words in order. The facts begin with `#`, which no word contains. So one index applies filters
 * and words together, before any message is read.
 *
 * `append_messages` does one append in one statement, which is one transaction. Its `outcome` is
 * `done`, `owner` or `changed`. In the last two cases nothing was stored.
 */
export const SESSION_TABLES = (schema: string) => `
CREATE TABLE ${schema}.owner (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  identity text NOT NULL
);
CREATE TABLE ${schema}.session (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  owner bigint NOT NULL REFERENCES ${schema}.owner (id),
  started_at bigint NOT NULL,
  last_message_at bigint NOT NULL,
  message_count bigint NOT NULL,
  session_id bytea NOT NULL,
  key bytea,
  personality_id bytea
);
CREATE INDEX session_by_time ON ${schema}.session (last_message_at, id);
CREATE INDEX session_by_owner ON ${schema}.session (owner, last_message_at, id);
CREATE TABLE ${schema}.message (
  id bigint GENERATED ALWAYS AS IDENTITY,
  session bigint NOT NULL REFERENCES ${schema}.session (id) ON DELETE CASCADE,
  sequence bigint NOT NULL,
  created_at bigint NOT NULL,
  role text NOT NULL,
  tool_name bytea,
  text bytea NOT NULL,
  data text,
  words text[] NOT NULL,
  PRIMARY KEY (session, sequence)
);
CREATE INDEX message_by_time ON ${schema}.message (session, created_at);
CREATE INDEX message_by_word ON ${schema}.message USING gin (words);

CREATE FUNCTION ${schema}.append_messages(
  id_bytes bytea, owner_identity text, session_key bytea, personality bytea,
  after_sequence float8, given_moment bigint,
  times bigint[], roles text[], tools bytea[], texts bytea[], contents text[], word_lists text[]
) RETURNS TABLE (outcome text, before float8, at_moment float8)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  of_owner bigint;
  known record;
  now_ms bigint := ${schema}.moment(given_moment);
  earliest bigint;
  latest bigint;
BEGIN
  at_moment := now_ms;
  SELECT min(coalesce(t, now_ms)), max(coalesce(t, now_ms)) INTO earliest, latest
    FROM unnest(times) AS t;
  SELECT id INTO of_owner FROM ${schema}.owner
    WHERE digest = sha256(convert_to(owner_identity, 'UTF8'));
  WHILE of_owner IS NULL LOOP
    INSERT INTO ${schema}.owner (digest, identity)
      VALUES (sha256(convert_to(owner_identity, 'UTF8')), owner_identity)
      ON CONFLICT (digest) DO NOTHING RETURNING id INTO of_owner;
    EXIT WHEN of_owner IS NOT NULL;
    SELECT id INTO of_owner FROM ${schema}.owner
      WHERE digest = sha256(convert_to(owner_identity, 'UTF8'));
  END LOOP;
  LOOP
    SELECT id, owner, message_count INTO known FROM ${schema}.session
      WHERE digest = sha256(id_bytes) FOR UPDATE;
    EXIT WHEN FOUND;
    IF after_sequence <> 0 THEN
      outcome := 'changed'; before := 0; RETURN NEXT; RETURN;
    END IF;
    INSERT INTO ${schema}.session
      (digest, owner, started_at, last_message_at, message_count, session_id, key, personality_id)
      VALUES (sha256(id_bytes), of_owner, earliest, latest, 0, id_bytes, session_key, personality)
      ON CONFLICT (digest) DO NOTHING RETURNING id, owner, message_count INTO known;
    EXIT WHEN FOUND;
  END LOOP;
  before := known.message_count;
  IF known.owner <> of_owner THEN
    outcome := 'owner'; RETURN NEXT; RETURN;
  END IF;
  IF after_sequence <> known.message_count THEN
    outcome := 'changed'; RETURN NEXT; RETURN;
  END IF;
  INSERT INTO ${schema}.message (session, sequence, created_at, role, tool_name, text, data, words)
    SELECT known.id, known.message_count + n, coalesce(times[n], now_ms), roles[n], tools[n],
      texts[n], contents[n],
      ARRAY['#owner' || of_owner, '#session' || known.id]
        || string_to_array(nullif(word_lists[n], ''), ' ')
    FROM generate_series(1, cardinality(roles)) AS n ORDER BY n;
  UPDATE ${schema}.session SET message_count = message_count + cardinality(roles),
    started_at = least(started_at, earliest), last_message_at = greatest(last_message_at, latest)
    WHERE id = known.id;
  outcome := 'done';
  RETURN NEXT;
END
$$;
`;

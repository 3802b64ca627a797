/**
 * The claims of sessions. A claim may be stored before the first message. Until then, the start of
 * the session is the largest time, and its last message has the smallest. An epoch is never used
 * twice, even for a session that was removed and created again.
 *
 * `append_claimed` calls `append_messages` if the session is held as the caller says. Otherwise its
 * `outcome` is `taken`. The row is locked until the end of both, so that no claim can come between
 * them.
 */
export const CLAIM_TABLES = (schema: string) => `
ALTER TABLE ${schema}.session
  ADD COLUMN epoch bigint NOT NULL DEFAULT 0,
  ADD COLUMN held_until bigint NOT NULL DEFAULT 0;
CREATE SEQUENCE ${schema}.session_epoch;
${CLAIM_FUNCTIONS(schema)}
`;

/**
 * The functions of claims. A row that is not there can't be locked, so the one of a new session is
 * made before it is asked who holds it: a claim may be making it at the same time.
 */
export const CLAIM_FUNCTIONS = (schema: string) => `
CREATE OR REPLACE FUNCTION ${schema}.begin_session(
  id_bytes bytea, owner_identity text, session_key bytea, personality bytea
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  of_owner bigint;
BEGIN
  INSERT INTO ${schema}.owner (digest, identity)
    VALUES (sha256(convert_to(owner_identity, 'UTF8')), owner_identity)
    ON CONFLICT (digest) DO NOTHING;
  SELECT id INTO of_owner FROM ${schema}.owner
    WHERE digest = sha256(convert_to(owner_identity, 'UTF8'));
  INSERT INTO ${schema}.session
    (digest, owner, started_at, last_message_at, message_count, session_id, key, personality_id)
    VALUES (sha256(id_bytes), of_owner, 9223372036854775807, -9223372036854775808, 0, id_bytes,
      session_key, personality)
    ON CONFLICT (digest) DO NOTHING;
  RETURN of_owner;
END
$$;

CREATE OR REPLACE FUNCTION ${schema}.append_claimed(
  id_bytes bytea, owner_identity text, session_key bytea, personality bytea,
  after_sequence float8, given_moment bigint,
  times bigint[], roles text[], tools bytea[], texts bytea[], contents text[], word_lists text[],
  of_epoch bigint, is_aside boolean
) RETURNS TABLE (outcome text, before float8, at_moment float8)
LANGUAGE plpgsql AS $$
DECLARE
  held record;
  now_ms bigint;
  is_held boolean;
  is_taken boolean;
BEGIN
  SELECT epoch, held_until INTO held FROM ${schema}.session
    WHERE digest = sha256(id_bytes) FOR UPDATE;
  IF NOT FOUND AND of_epoch IS NULL AND after_sequence = 0 THEN
    PERFORM ${schema}.begin_session(id_bytes, owner_identity, session_key, personality);
    SELECT epoch, held_until INTO held FROM ${schema}.session
      WHERE digest = sha256(id_bytes) FOR UPDATE;
  END IF;
  now_ms := ${schema}.moment(given_moment);
  is_held := FOUND AND held.held_until > now_ms;
  is_taken := CASE WHEN of_epoch IS NULL THEN is_held AND NOT is_aside
    ELSE NOT is_held OR held.epoch <> of_epoch END;
  IF is_taken THEN
    outcome := 'taken'; before := 0; at_moment := now_ms; RETURN NEXT; RETURN;
  END IF;
  RETURN QUERY SELECT * FROM ${schema}.append_messages(id_bytes, owner_identity, session_key,
    personality, after_sequence, given_moment, times, roles, tools, texts, contents, word_lists);
END
$$;

CREATE OR REPLACE FUNCTION ${schema}.claim_session(
  id_bytes bytea, owner_identity text, session_key bytea, personality bytea,
  given_moment bigint, lease_ms bigint
) RETURNS TABLE (outcome text, epoch float8)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  of_owner bigint := ${schema}.begin_session(id_bytes, owner_identity, session_key, personality);
  known record;
  now_ms bigint;
  raised bigint;
BEGIN
  SELECT id, owner, held_until INTO known FROM ${schema}.session
    WHERE digest = sha256(id_bytes) FOR UPDATE;
  now_ms := ${schema}.moment(given_moment);
  IF NOT FOUND OR known.held_until > now_ms THEN
    outcome := 'held'; RETURN NEXT; RETURN;
  END IF;
  IF known.owner <> of_owner THEN
    outcome := 'owner'; RETURN NEXT; RETURN;
  END IF;
  raised := nextval('${schema}.session_epoch');
  UPDATE ${schema}.session SET epoch = raised, held_until = now_ms + lease_ms WHERE id = known.id;
  outcome := 'done'; epoch := raised;
  RETURN NEXT;
END
$$;
`;

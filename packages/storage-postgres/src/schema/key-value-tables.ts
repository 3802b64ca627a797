/**
 * Names are stored as bytes. So NUL and every other character are kept, and order and prefixes are
 * those of the bytes. An index entry has at most about 2,700 bytes. So rows are found by SHA-256,
 * and prefixes by their first 128 bytes.
 *
 * `key_value_batch` runs the calls of a batch one after another in one statement, which is one
 * transaction and one round trip. If `done` is false for an increment, `result` is the value that
 * is not an integer.
 */
export const KEY_VALUE_TABLES = (schema: string) => `
CREATE TABLE ${schema}.key_value (
  scope_digest bytea NOT NULL,
  key_digest bytea NOT NULL,
  expires_at bigint,
  scope bytea NOT NULL,
  key bytea NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (scope_digest, key_digest)
);
CREATE INDEX key_value_by_prefix
  ON ${schema}.key_value (scope_digest, substring(key FROM 1 FOR 128));
CREATE INDEX key_value_by_expiry
  ON ${schema}.key_value (expires_at) WHERE expires_at IS NOT NULL;

CREATE FUNCTION ${schema}.safe_integer(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN length(value) <= 17 AND encode(value, 'escape') ~ '^(0|-?[1-9][0-9]{0,15})$'
    THEN CASE WHEN abs(encode(value, 'escape')::bigint) <= 9007199254740991
      THEN encode(value, 'escape')::bigint END END
$$;

CREATE FUNCTION ${schema}.moment(given bigint) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

CREATE FUNCTION ${schema}.key_value_batch(
  kinds text[], scopes bytea[], keys bytea[], contents bytea[], expectations bytea[],
  steps bigint[], lifetimes bigint[], moments bigint[]
) RETURNS TABLE (done boolean, result bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  at_moment bigint;
  of_scope bytea;
  of_key bytea;
  until bigint;
BEGIN
  FOR i IN 1 .. cardinality(kinds) LOOP
    at_moment := ${schema}.moment(moments[i]);
    of_scope := sha256(scopes[i]);
    of_key := sha256(keys[i]);
    until := at_moment + lifetimes[i];
    done := true;
    result := NULL;
    IF kinds[i] = 'delete' THEN
      DELETE FROM ${schema}.key_value WHERE scope_digest = of_scope AND key_digest = of_key;
    ELSIF kinds[i] = 'set' THEN
      INSERT INTO ${schema}.key_value (scope_digest, key_digest, scope, key, value, expires_at)
      VALUES (of_scope, of_key, scopes[i], keys[i], contents[i], until)
      ON CONFLICT (scope_digest, key_digest)
        DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at;
    ELSE
      -- What was found expired stays absent, also when a clock is set back.
      DELETE FROM ${schema}.key_value
        WHERE scope_digest = of_scope AND key_digest = of_key AND expires_at <= at_moment;
      IF kinds[i] = 'get' THEN
        SELECT value INTO result FROM ${schema}.key_value
          WHERE scope_digest = of_scope AND key_digest = of_key;
      ELSIF kinds[i] = 'increment' THEN
        LOOP
          INSERT INTO ${schema}.key_value AS old
            (scope_digest, key_digest, scope, key, value, expires_at)
          VALUES (of_scope, of_key, scopes[i], keys[i], convert_to(steps[i]::text, 'UTF8'), until)
          ON CONFLICT (scope_digest, key_digest) DO UPDATE
            SET value = convert_to((${schema}.safe_integer(old.value) + steps[i])::text, 'UTF8'),
              expires_at = excluded.expires_at
            WHERE abs(${schema}.safe_integer(old.value) + steps[i]) <= 9007199254740991
          RETURNING value INTO result;
          done := FOUND;
          EXIT WHEN done;
          SELECT value INTO result FROM ${schema}.key_value
            WHERE scope_digest = of_scope AND key_digest = of_key;
          EXIT WHEN FOUND;
        END LOOP;
      ELSIF expectations[i] IS NULL THEN
        INSERT INTO ${schema}.key_value (scope_digest, key_digest, scope, key, value, expires_at)
        VALUES (of_scope, of_key, scopes[i], keys[i], contents[i], until)
        ON CONFLICT (scope_digest, key_digest) DO NOTHING;
        done := FOUND;
      ELSE
        UPDATE ${schema}.key_value SET value = contents[i], expires_at = until
          WHERE scope_digest = of_scope AND key_digest = of_key AND value = expectations[i];
        done := FOUND;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
`;

/** A memory is small and is changed as a whole, so its sections are stored as JSON. */
export const MEMORY_TABLES = (schema: string) => `
CREATE TABLE ${schema}.memory (
  digest bytea PRIMARY KEY,
  revision bigint NOT NULL,
  scope_id bytea NOT NULL,
  sections text NOT NULL
);
CREATE TABLE ${schema}.memory_version (
  memory bytea NOT NULL REFERENCES ${schema}.memory (digest) ON DELETE CASCADE,
  revision bigint NOT NULL,
  replaced_at bigint NOT NULL,
  sections text NOT NULL,
  PRIMARY KEY (memory, revision)
);

CREATE FUNCTION ${schema}.replace_memory(
  scope bytea, expected bigint, content text, kept_versions bigint, given_moment bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  of_scope bytea := sha256(scope);
  old record;
BEGIN
  IF expected = 0 THEN
    INSERT INTO ${schema}.memory (digest, revision, scope_id, sections)
      VALUES (of_scope, 0, scope, '[]') ON CONFLICT (digest) DO NOTHING;
  END IF;
  SELECT revision, sections INTO old FROM ${schema}.memory WHERE digest = of_scope FOR UPDATE;
  IF NOT FOUND OR old.revision <> expected THEN RETURN false; END IF;
  INSERT INTO ${schema}.memory_version (memory, revision, replaced_at, sections)
    VALUES (of_scope, old.revision, ${schema}.moment(given_moment), old.sections);
  DELETE FROM ${schema}.memory_version
    WHERE memory = of_scope AND revision <= old.revision - kept_versions;
  UPDATE ${schema}.memory SET revision = old.revision + 1, sections = content
    WHERE digest = of_scope;
  RETURN true;
END
$$;
`;

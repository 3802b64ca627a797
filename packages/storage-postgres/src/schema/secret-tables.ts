/** Secrets by their refs. `sealed` is encrypted. Its key is not in the database. */
export const SECRET_TABLES = (schema: string) => `
CREATE TABLE ${schema}.secret (
  ref text COLLATE "C" PRIMARY KEY,
  sealed bytea NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);
`;

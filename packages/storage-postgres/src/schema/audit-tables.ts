/**
 * Each writer has its own chain. `head` records where the chain ends, so that a missing end is
 * noticed.
 */
export const AUDIT_TABLES = (schema: string) => `
CREATE TABLE ${schema}.audit_chain (
  id text PRIMARY KEY,
  newest bigint NOT NULL,
  head text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE ${schema}.audit_line (
  chain text NOT NULL,
  seq bigint NOT NULL,
  line bytea NOT NULL,
  PRIMARY KEY (chain, seq)
);
`;

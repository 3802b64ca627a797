/**
 * Attachments by the SHA-256 of their bytes. They are stored unchanged, since most are compressed
 * already.
 */
export const ATTACHMENT_TABLES = (schema: string) => `
CREATE TABLE ${schema}.attachment (
  digest bytea PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  bytes bytea NOT NULL
);
ALTER TABLE ${schema}.attachment ALTER COLUMN bytes SET STORAGE EXTERNAL;
`;

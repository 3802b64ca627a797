import type pg from 'pg';
import { ATTACHMENT_TABLES } from './attachment-tables.js';
import { AUDIT_TABLES } from './audit-tables.js';
import { CLAIM_FUNCTIONS, CLAIM_TABLES } from './claim-tables.js';
import { messageStems, twoWordCharacters } from './index-messages.js';
import { KEY_VALUE_TABLES } from './key-value-tables.js';
import { MEMORY_TABLES } from './memory-tables.js';
import { SCHEDULE_TABLES } from './schedule-tables.js';
import { SECRET_TABLES } from './secret-tables.js';
import { SESSION_TABLES } from './session-tables.js';
import { TURN_TABLES } from './turn-tables.js';

/** SQL, or a function for what SQL can't do. Runs in the transaction of the migration. */
export type Migration = string | ((client: pg.PoolClient) => Promise<void>);

/**
 * Step n migrates a schema from version n to n + 1. Steps are only added at the end. Older code
 * refuses a newer schema by its version, so a step may change anything.
 */
export const MIGRATIONS: readonly ((schema: string) => Migration)[] = [
  (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema};
    CREATE TABLE ${schema}.migration (
      version int PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    );
    ${KEY_VALUE_TABLES(schema)}
    ${SESSION_TABLES(schema)}
    ${MEMORY_TABLES(schema)}
    ${ATTACHMENT_TABLES(schema)}
    ${AUDIT_TABLES(schema)}`,
  SECRET_TABLES,
  CLAIM_TABLES,
  TURN_TABLES,
  SCHEDULE_TABLES,
  messageStems,
  twoWordCharacters,
  CLAIM_FUNCTIONS,
];

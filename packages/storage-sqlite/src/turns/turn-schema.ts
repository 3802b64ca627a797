import type { StoreSchema } from '../store-schema.js';

const MIGRATIONS: readonly string[] = [
  // Long columns come last, as in the other stores.
  `CREATE TABLE tenant (
     name TEXT PRIMARY KEY,
     served REAL NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE clock (served REAL NOT NULL) STRICT;
   INSERT INTO clock (served) VALUES (0);
   CREATE TABLE rate (
     key TEXT PRIMARY KEY,
     ends_at INTEGER NOT NULL,
     used INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE turn (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     session_id TEXT NOT NULL,
     tenant TEXT NOT NULL,
     priority INTEGER NOT NULL,
     state TEXT NOT NULL DEFAULT 'waiting',
     run_at INTEGER NOT NULL,
     held_until INTEGER NOT NULL DEFAULT 0,
     taking INTEGER NOT NULL DEFAULT 0,
     wakes INTEGER NOT NULL DEFAULT 0,
     attempts INTEGER NOT NULL DEFAULT 0,
     losses INTEGER NOT NULL DEFAULT 0,
     max_attempts INTEGER NOT NULL,
     backoff_ms INTEGER NOT NULL,
     was_paused INTEGER NOT NULL DEFAULT 0,
     is_cancelled INTEGER NOT NULL DEFAULT 0,
     changed_at INTEGER NOT NULL,
     rates TEXT NOT NULL,
     message TEXT,
     answer TEXT,
     input TEXT NOT NULL
   ) STRICT;
   CREATE INDEX turn_waiting ON turn (tenant, priority, place) WHERE state = 'waiting';
   CREATE INDEX turn_due ON turn (run_at) WHERE state = 'waiting';
   CREATE INDEX turn_running ON turn (held_until) WHERE state = 'running';
   CREATE INDEX turn_open ON turn (session_id, place)
     WHERE state IN ('waiting', 'running', 'paused');
   CREATE INDEX turn_over ON turn (changed_at) WHERE state IN ('done', 'failed', 'cancelled');
   CREATE TABLE turn_after (
     turn INTEGER NOT NULL REFERENCES turn (place),
     id TEXT NOT NULL,
     PRIMARY KEY (turn, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX turn_after_by_id ON turn_after (id);
   CREATE TABLE event (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     session_id TEXT NOT NULL,
     turn INTEGER NOT NULL REFERENCES turn (place),
     data TEXT NOT NULL
   ) STRICT;
   CREATE INDEX event_by_session ON event (session_id, position);
   CREATE INDEX event_by_turn ON event (turn);
   CREATE TABLE schedule (
     id TEXT PRIMARY KEY,
     next_at INTEGER,
     last_at INTEGER,
     data TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX schedule_due ON schedule (next_at);`,
];

/** The turns to run. The application id is "EthT" in ASCII. */
export const TURN_SCHEMA: StoreSchema = { applicationId: 0x45746854, migrations: MIGRATIONS };

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeyValueProcesses, keyValueAttacks } from '@ethosagent/conformance/attacks';
import Database from 'better-sqlite3';
import { startFixture } from './fixtures/run-fixture.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'kv-attacks-')), 'new', 'kv.db');

keyValueAttacks(
  'createSqliteKvStore in a file',
  ({ clock }) => createSqliteKvStore({ path: newPath(), clock }),
  { processes },
);

keyValueAttacks('createSqliteKvStore in memory', ({ clock }) =>
  createSqliteKvStore({ path: ':memory:', clock }),
);

function processes(): KeyValueProcesses {
  const path = newPath();
  return {
    open: () => createSqliteKvStore({ path }),
    startCounter: (id, turns) => startFixture('count-up', [path, id, String(turns)]),
    startWriter: (id) => startFixture('acknowledge', [path, id]),
    assertWhole() {
      const db = new Database(path);
      const verdict = db.pragma('integrity_check', { simple: true });
      db.close();
      if (verdict !== 'ok') throw new Error(String(verdict));
    },
  };
}

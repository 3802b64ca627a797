import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type KeyValueProcesses,
  keyValueAttacks,
  startScript,
} from '@ethosagent/conformance/attacks';
import { bundleScript, isLongRun } from '@ethosagent/test-support';
import { openRaw } from './fixtures/open-raw.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';

const counter = await bundleScript(new URL('./fixtures/count-up.ts', import.meta.url));
const writer = await bundleScript(new URL('./fixtures/acknowledge.ts', import.meta.url));

const newPath = () => join(mkdtempSync(join(tmpdir(), 'kv-attacks-')), 'new', 'kv.db');

keyValueAttacks(
  'createSqliteKvStore in a file',
  ({ clock }) => createSqliteKvStore({ path: newPath(), clock }),
  { processes },
);

if (isLongRun()) {
  keyValueAttacks('createSqliteKvStore in memory', ({ clock }) =>
    createSqliteKvStore({ path: ':memory:', clock }),
  );
}

function processes(): KeyValueProcesses {
  const path = newPath();
  return {
    open: () => createSqliteKvStore({ path }),
    startCounter: (id, turns) => startScript(counter, { args: [path, id, String(turns)] }),
    startWriter: (id) => startScript(writer, { args: [path, id] }),
    assertWhole() {
      const db = openRaw(path);
      const verdict = db.pragma('integrity_check');
      db.close();
      if (verdict !== 'ok') throw new Error(String(verdict));
    },
  };
}

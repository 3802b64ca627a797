import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  keyValueConformance,
  memoryConformance,
  sessionConformance,
  turnConformance,
} from '@ethosagent/conformance';
import { keyValueAttacks } from '@ethosagent/conformance/attacks';
import { bundleScript, isLongRun, isNode22, runOnNode22 } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { loadDriver } from './driver/load-driver.js';
import { loads } from './fixtures/open-raw.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';
import { createSqliteMemory } from './sqlite-memory.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';
import { createSqliteTurns } from './sqlite-turns.js';

const driver = 'node:sqlite';
const newPath = () => join(mkdtempSync(join(tmpdir(), 'node-sqlite-')), 'store.db');

// On an older Node, `scripts/node-22.test.ts` runs these tests on one that has it.
if (isNode22) {
  describe('the stores on node:sqlite', () => {
    it('run on an SQLite without the WAL-reset bug, 3.51.3 or newer', () => {
      const db = loadDriver(driver).open(':memory:');
      const version = String(db.prepareColumn('SELECT sqlite_version()').get());
      db.close();
      expect(version.localeCompare('3.51.3', 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
    });

    keyValueConformance('createSqliteKvStore on node:sqlite', ({ clock }) =>
      createSqliteKvStore({ path: newPath(), driver, clock }),
    );
    keyValueAttacks('createSqliteKvStore on node:sqlite', ({ clock }) =>
      createSqliteKvStore({ path: newPath(), driver, clock }),
    );
    memoryConformance('createSqliteMemory on node:sqlite', ({ clock }) => {
      const memory = createSqliteMemory({ path: newPath(), driver, clock });
      return { memory, close: () => memory.close() };
    });
    sessionConformance('createSqliteSessionStore on node:sqlite', ({ clock }) => {
      const sessions = createSqliteSessionStore({ path: newPath(), driver, clock });
      return { sessions, close: () => sessions.close() };
    });
    turnConformance('createSqliteTurns on node:sqlite', ({ clock }) => {
      const turns = createSqliteTurns({ path: ':memory:', driver, clock });
      return { turns, close: () => turns.close() };
    });
  });
}

it.runIf(isLongRun() && loads('better-sqlite3'))(
  'what one driver wrote, the other reads and goes on with',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'two-drivers-'));
    const open = () => ({
      store: createSqliteKvStore({ path: join(folder, 'kv.db'), driver: 'better-sqlite3' }),
      sessions: createSqliteSessionStore({
        path: join(folder, 'sessions.db'),
        driver: 'better-sqlite3',
      }),
    });
    const text = 'a\0b \u{1F600} café';
    const before = open();
    await before.store.kvStoreFactory('t', 's').set(text, text);
    await before.sessions.append({ id: 's', scopeId: 'p' }, [{ role: 'user', text }]);
    const script = await bundleScript(new URL('./fixtures/other-driver.ts', import.meta.url));
    const seen = JSON.parse(await runOnNode22([script, folder]));
    expect(seen).toEqual({ value: text, keys: [text], texts: [text] });
    // Both connections had the files open.
    expect(await before.store.kvStoreFactory('t', 's').get('from node:sqlite')).toBe(text);
    const found = await before.sessions.search('cafe');
    expect(found.map(({ message }) => message.text).sort()).toEqual([text, `${text} again`]);
    before.store.close();
    before.sessions.close();
  },
);

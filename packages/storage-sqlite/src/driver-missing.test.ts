import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loads } from './fixtures/open-raw.js';
import { runFixture } from './fixtures/run-fixture.js';

// The test changes a binary in the format of Linux, little-endian.
describe.runIf(process.platform === 'linux')('createSqliteKvStore, whose better-sqlite3', () => {
  it.each([
    ['was built for another Node', 'other', /using\sNODE_MODULE_VERSION 999\./, 'npm rebuild'],
    ['was not built', 'none', /Could not locate the bindings file/, 'npm rebuild'],
    ['is not installed', 'gone', /Cannot find module 'better-sqlite3'/, 'npm install'],
  ])(
    '%s: runs on the SQLite of Node, else says what to do',
    async (_what, fault, cause, remedy) => {
      const dir = mkdtempSync(join(tmpdir(), 'driver-'));
      const [line = ''] = await runFixture('other-abi', [dir, fault]);
      if (loads('node:sqlite')) {
        expect(line).toBe('opened');
        return;
      }
      const told = JSON.parse(line);
      expect(told.cause).toMatch(cause);
      expect(told.message).toMatch(/^STORE_UNAVAILABLE: /);
      expect(told.message).toContain(join(dir, 'kv.db'));
      expect(told.message).toContain(`\`${remedy} better-sqlite3\``);
      expect(told.message).toContain('or use the newest Node 22 or 24');
      expect(told.message).not.toContain('check the disk');
      expect(readdirSync(dir).filter((name) => name.startsWith('kv.db'))).toEqual([]);
    },
  );
});

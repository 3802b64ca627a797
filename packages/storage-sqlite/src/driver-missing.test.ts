import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFixture } from './fixtures/run-fixture.js';

// The structure of a binary is that of Linux, little-endian.
describe.runIf(process.platform === 'linux')('createSqliteKvStore, whose better-sqlite3', () => {
  it.each([
    ['was built for another Node', 'other', /using\sNODE_MODULE_VERSION 999\./],
    ['was not built', 'none', /Could not locate the bindings file/],
  ])('%s: says which store, and how to build it', async (_what, fault, cause) => {
    const dir = mkdtempSync(join(tmpdir(), 'driver-'));
    const [line = ''] = await runFixture('other-abi', [dir, fault]);
    const told = JSON.parse(line);
    expect(told.cause).toMatch(cause);
    expect(told.message).toMatch(/^STORE_UNAVAILABLE: /);
    expect(told.message).toContain(join(dir, 'kv.db'));
    expect(told.message).toContain('`npm rebuild better-sqlite3`');
    expect(told.message).not.toContain('check the disk');
    expect(readdirSync(dir).filter((name) => name.startsWith('kv.db'))).toEqual([]);
  });
});

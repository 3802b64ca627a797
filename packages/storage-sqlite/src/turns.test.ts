import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turnConformance } from '@ethosagent/conformance';
import { isLongRun } from '@ethosagent/test-support';
import { createSqliteTurns, type SqliteTurnsOptions } from './sqlite-turns.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'turn-conformance-')), 'turns.db');

function underTest(options: SqliteTurnsOptions) {
  const turns = createSqliteTurns(options);
  return { turns, close: () => turns.close() };
}

turnConformance('createSqliteTurns in a file', ({ clock }) =>
  underTest({ path: newPath(), clock, synchronous: 'normal' }),
);
// In memory it runs on Node 22 in each check.
if (isLongRun()) {
  turnConformance('createSqliteTurns in memory', ({ clock }) =>
    underTest({ path: ':memory:', clock }),
  );
}

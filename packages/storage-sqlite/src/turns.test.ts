import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turnConformance } from '@ethosagent/conformance';
import { isLongRun } from '@ethosagent/test-support';
import { expect, it } from 'vitest';
import { createSqliteTurns, type SqliteTurnsOptions } from './sqlite-turns.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'turn-conformance-')), 'turns.db');

function underTest(options: SqliteTurnsOptions) {
  const turns = createSqliteTurns(options);
  return { turns, close: () => turns.close() };
}

turnConformance('createSqliteTurns in memory', ({ clock }) =>
  underTest({ path: ':memory:', clock }),
);
if (isLongRun()) {
  turnConformance('createSqliteTurns in a file', ({ clock }) =>
    underTest({ path: newPath(), clock, synchronous: 'normal' }),
  );
}

it('createSqliteTurns shares a file: each turn is taken once, and is there when it is opened anew', async () => {
  const path = newPath();
  const [one, other] = [createSqliteTurns({ path }), createSqliteTurns({ path })];
  for (const id of ['a', 'b']) await one.put({ id, sessionId: id, prompt: id });
  const taken = [await other.take({ leaseMs: 60_000 }), await one.take({ leaseMs: 60_000 })];
  expect(taken.map((turn) => turn?.id)).toEqual(['a', 'b']);
  expect(await other.take({ leaseMs: 60_000 })).toBeNull();
  one.close();
  other.close();
  const again = createSqliteTurns({ path });
  expect(await again.counts()).toMatchObject({ running: 2, waiting: 0 });
  again.close();
});

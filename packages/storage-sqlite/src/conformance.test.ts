import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryConformance, sessionConformance } from '@ethosagent/conformance';
import { createSqliteMemory, type SqliteMemoryOptions } from './sqlite-memory.js';
import {
  createSqliteSessionStore,
  type SqliteSessionStoreOptions,
} from './sqlite-session-store.js';

const newPath = () => join(mkdtempSync(join(tmpdir(), 'store-conformance-')), 'store.db');

function underTest(options: SqliteMemoryOptions) {
  const memory = createSqliteMemory(options);
  return { memory, close: () => memory.close() };
}

memoryConformance('createSqliteMemory in a file', ({ clock }) =>
  underTest({ path: newPath(), clock, synchronous: 'normal' }),
);
memoryConformance('createSqliteMemory in memory', ({ clock }) =>
  underTest({ path: ':memory:', clock }),
);

function sessionsUnderTest(options: SqliteSessionStoreOptions) {
  const sessions = createSqliteSessionStore(options);
  return { sessions, close: () => sessions.close() };
}

sessionConformance('createSqliteSessionStore in a file', ({ clock }) =>
  sessionsUnderTest({ path: newPath(), clock, synchronous: 'normal' }),
);
sessionConformance('createSqliteSessionStore in memory', ({ clock }) =>
  sessionsUnderTest({ path: ':memory:', clock }),
);

import { join } from 'node:path';
import { createTestFolder } from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MEMORY_SCHEMA } from './memory-schema.js';
import { openDatabase } from './open-database.js';
import { SESSION_SCHEMA } from './session-schema.js';
import { createSqliteMemory } from './sqlite-memory.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';
import type { StoreSchema } from './store-schema.js';

const OWNER = { scopeId: 'personality:old' };
const IDENTITY = JSON.stringify(['personality:old', null, null]);
const ADD_WORDS = 'INSERT INTO message_words (rowid, facts, words) VALUES (?, ?, ?)';

/** A file as an older program wrote it, which had only so many migrations. */
function olderFile({ migrations, ...schema }: StoreSchema, version: number) {
  const folder = createTestFolder('older-files');
  onTestFinished(folder.remove);
  const path = join(folder.dir, 'old.db');
  const known = { ...schema, migrations: migrations.slice(0, version) };
  return { path, db: openDatabase({ path, synchronous: 'normal', schema: known }) };
}

describe('a session file from before the forms of words', () => {
  function olderSessions(texts: readonly string[]) {
    const { path, db } = olderFile(SESSION_SCHEMA, 2);
    db.prepare<[string]>('INSERT INTO owner (id, identity) VALUES (1, ?)').run(IDENTITY);
    db.exec(
      `INSERT INTO session (id, session_id, owner, started_at, last_message_at, message_count)
       VALUES (7, 's', 1, 0, 0, ${texts.length})`,
    );
    const add = db.prepare<[number, number, string]>(
      `INSERT INTO message (id, session, sequence, created_at, role, text)
       VALUES (?, 7, ?, 0, 'user', ?)`,
    );
    const addWords = db.prepare<[number, string, string]>(ADD_WORDS);
    texts.forEach((text, at) => {
      // Ids have gaps if a session was deleted.
      add.run(at * 3 + 5, at + 1, text);
      addWords.run(at * 3 + 5, 'owner1 session7 roleuser', text.toLowerCase());
    });
    return { path, db };
  }

  it('has them after it is opened, for every message', async () => {
    const texts = Array.from({ length: 120 }, (_, at) => `number${at}`);
    texts.push('a\0planned journey', 'plans', 'set maxTextChars');
    const { path, db } = olderSessions(texts);
    db.close();
    const store = createSqliteSessionStore({ path });
    onTestFinished(store.close);
    const found = async (query: string, opts = {}) =>
      (await store.search(query, { owner: OWNER, ...opts })).map(({ message }) => message.sequence);
    expect((await found('planning')).sort()).toEqual([121, 122]);
    expect(await found('text chars')).toEqual([123]);
    for (const at of [0, 49, 50, 51, 119]) expect(await found(`number${at}`)).toEqual([at + 1]);
    expect(await found('planning', { sessionId: 's', roles: ['tool'] })).toEqual([]);
    expect(await store.search('planning', { owner: { scopeId: 'personality:other' } })).toEqual([]);
    await store.append({ id: 's', ...OWNER }, [{ role: 'user', text: 'planner' }]);
    expect(await store.messages('s', { afterSequence: 120 })).toHaveLength(4);
    expect(await store.delete('s')).toBe(true);
    expect(await store.search('planning')).toEqual([]);
  });

  it('takes what a program writes that has it open since before', async () => {
    const { path, db } = olderSessions(['one']);
    const store = createSqliteSessionStore({ path });
    onTestFinished(store.close);
    db.exec(
      `INSERT INTO message (id, session, sequence, created_at, role, text)
       VALUES (9, 7, 2, 0, 'user', 'late')`,
    );
    db.prepare<[number, string, string]>(ADD_WORDS).run(9, 'owner1 session7 roleuser', 'late');
    db.close();
    expect(await store.search('late', { owner: OWNER })).toHaveLength(1);
  });
});

it('a session file from before characters of two words finds them by either spelling', async () => {
  const { path, db } = olderFile(SESSION_SCHEMA, 3);
  db.prepare<[string]>('INSERT INTO owner (id, identity) VALUES (1, ?)').run(IDENTITY);
  db.exec(
    `INSERT INTO session (id, session_id, owner, started_at, last_message_at, message_count)
     VALUES (7, 's', 1, 0, 0, 3)`,
  );
  const add = db.prepare<[number, number, string]>(
    `INSERT INTO message (id, session, sequence, created_at, role, text) VALUES (?, 7, ?, 0, 'user', ?)`,
  );
  const addWords = db.prepare<[number, string, string]>(ADD_WORDS);
  for (const [id, text, words] of [
    [1, 'a\0ໜ', 'a ຫນ'],
    [2, 'ຫນ', 'ຫ ນ'],
    [3, 'tide', 'tide'],
  ] as const) {
    add.run(id, id, text);
    addWords.run(id, 'owner1 session7 roleuser', words);
  }
  db.close();
  const store = createSqliteSessionStore({ path });
  onTestFinished(store.close);
  const found = async (query: string) =>
    (await store.search(query, { owner: OWNER })).map(({ message }) => message.sequence).sort();
  expect(await found('ໜ')).toEqual([1, 2]);
  expect(await found('ຫນ')).toEqual([1, 2]);
  expect(await found('a')).toEqual([1]);
  expect(await found('tide')).toEqual([3]);
});

it('a memory file from before characters of two words finds them', async () => {
  const { path, db } = olderFile(MEMORY_SCHEMA, 2);
  db.exec(
    `INSERT INTO memory (id, scope_id, revision) VALUES (1, 'global', 1);
     INSERT INTO section (id, memory, position, heading, text) VALUES (4, 1, 0, 'Words', 'ໜ');
     INSERT INTO section_words (rowid, facts, heading, words, stems)
       VALUES (4, 'memory1', 'words', 'ຫນ', '');`,
  );
  db.close();
  const memory = createSqliteMemory({ path });
  onTestFinished(memory.close);
  for (const query of ['ໜ', 'ຫນ']) {
    expect((await memory.search('global', query)).map(({ heading }) => heading)).toEqual(['Words']);
  }
});

it('a memory file from before the forms of words has them after it is opened', async () => {
  const { path, db } = olderFile(MEMORY_SCHEMA, 1);
  db.exec(
    `INSERT INTO memory (id, scope_id, revision) VALUES (1, 'global', 1), (2, 'team:x', 1);
     INSERT INTO section (id, memory, position, heading, text) VALUES
       (4, 1, 0, 'Journeys', 'To the sea.'), (9, 2, 0, 'Others', 'journeys');
     INSERT INTO section_words (rowid, facts, heading, words) VALUES
       (4, 'memory1', 'journeys', 'to the sea'), (9, 'memory2', 'others', 'journeys');`,
  );
  db.close();
  const memory = createSqliteMemory({ path });
  onTestFinished(memory.close);
  const found = async () =>
    (await memory.search('global', 'a journey')).map(({ heading }) => heading);
  expect(await found()).toEqual(['Journeys']);
  expect((await memory.read('global')).revision).toBe('1');
  await memory.change('global', { kind: 'remove', section: 'Journeys' });
  expect(await found()).toEqual([]);
});

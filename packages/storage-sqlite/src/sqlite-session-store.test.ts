import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { truncationMarker } from '@ethosagent/policy';
import { errorCodeOf, type NewSessionMessage } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRaw } from './fixtures/open-raw.js';
import { createSqliteKvStore } from './sqlite-kv-store.js';
import { createSqliteMemory } from './sqlite-memory.js';
import { createSqliteSessionStore } from './sqlite-session-store.js';

const session = { id: 's', scopeId: 'global' };
const codeOf = (call: Promise<unknown>) => call.then(() => 'done', errorCodeOf);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sessions-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FACTORIES = {
  createSqliteKvStore,
  createSqliteMemory,
  createSqliteSessionStore,
} as const;
type Factory = keyof typeof FACTORIES;
const names: Factory[] = ['createSqliteKvStore', 'createSqliteMemory', 'createSqliteSessionStore'];

function codeOfOpening(name: Factory, path: string): string {
  try {
    FACTORIES[name]({ path }).close();
  } catch (error) {
    return errorCodeOf(error) ?? String(error);
  }
  return 'opened';
}

describe('a store', () => {
  it.each(names.flatMap((maker) => names.map((opener) => [maker, opener] as const)))(
    'that %s made is opened by %s only when they are the same',
    (maker, opener) => {
      const path = join(folder, 'store.db');
      FACTORIES[maker]({ path }).close();
      const before = readFileSync(path);
      expect(codeOfOpening(opener, path)).toBe(maker === opener ? 'opened' : 'STORE_CORRUPT');
      if (maker !== opener) expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  it.each(names)('of %s that is newer, cut off or a text is refused and left as it is', (name) => {
    const whole = join(folder, 'whole.db');
    FACTORIES[name]({ path: whole }).close();
    const spoil: [string, (path: string) => void][] = [
      ['STORE_NEWER', (path) => openRaw(path).pragma('user_version = 99')],
      ['STORE_CORRUPT', (path) => truncateSync(path, 8_192)],
      ['STORE_CORRUPT', (path) => writeFileSync(path, 'not a database')],
      ['STORE_CORRUPT', (path) => writeFileSync(path, '')],
    ];
    spoil.forEach(([code, change], index) => {
      const path = join(folder, `${index}.db`);
      copyFileSync(whole, path);
      change(path);
      const before = readFileSync(path);
      expect(codeOfOpening(name, path)).toBe(code);
      expect(readFileSync(path).equals(before)).toBe(true);
    });
  });

  it.each<[Factory, object]>([
    ['createSqliteSessionStore', { path: '' }],
    ['createSqliteSessionStore', { maxTextChars: 0 }],
    ['createSqliteSessionStore', { synchronous: 'off' }],
    ['createSqliteMemory', { maxVersions: 1.5 }],
    ['createSqliteMemory', { busyTimeoutMs: -1 }],
  ])('of %s with %j is CONFIG_INVALID', (name, options) => {
    expect(() => FACTORIES[name]({ path: ':memory:', ...options })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });
});

describe('createSqliteSessionStore', () => {
  it('keeps its messages from one time to the next', async () => {
    const path = join(folder, 'new', 'sessions.db');
    const first = createSqliteSessionStore({ path });
    await first.append(session, [{ role: 'user', text: 'hello', data: { a: 1 } }]);
    first.close();
    expect(await codeOf(first.append(session, [{ role: 'user', text: 'x' }]))).toBe(
      'STORE_UNAVAILABLE',
    );
    expect(await codeOf(first.search('x'))).toBe('STORE_UNAVAILABLE');
    const second = createSqliteSessionStore({ path });
    expect(await second.messages('s')).toMatchObject([{ text: 'hello', data: { a: 1 } }]);
    expect(await second.search('hello')).toHaveLength(1);
    second.close();
  });

  it('sees in a read what it was asked to append before', async () => {
    const store = createSqliteSessionStore({ path: ':memory:' });
    const append = store.append(session, [{ role: 'user', text: 'hello' }]);
    expect(await store.search('hello')).toHaveLength(1);
    await append;
    store.close();
  });

  it('cuts a text at its cap, outside a surrogate pair, and says so', async () => {
    const store = createSqliteSessionStore({ path: ':memory:', maxTextChars: 10 });
    const text = 'needle 12😀 unfound';
    const [stored] = await store.append(session, [{ role: 'tool', text }]);
    expect(stored?.text).toBe(`needle 12${truncationMarker(text.length)}`);
    expect(await store.messages('s')).toEqual([stored]);
    expect(await store.search('needle')).toHaveLength(1);
    expect(await store.search('unfound')).toEqual([]);
    store.close();
  });

  it.each<[string, object]>([
    ['another role', { role: 'root' }],
    ['no text', { text: undefined }],
    ['a number for a text', { text: 5 }],
    ['data over the cap', { data: 'x'.repeat(100) }],
    ['data that is no JSON', { data: () => {} }],
    ['a big integer', { data: 1n }],
    ['half a millisecond', { createdAt: 0.5 }],
    ['no time', { createdAt: Number.NaN }],
    ['a long tool name', { toolName: 'x'.repeat(1_001) }],
  ])('refuses %s with VALUE_INVALID', async (_, wrong) => {
    const store = createSqliteSessionStore({ path: ':memory:', maxDataChars: 50 });
    const message: NewSessionMessage = { role: 'user', text: 'x', ...wrong };
    expect(await codeOf(store.append(session, [message]))).toBe('VALUE_INVALID');
    expect(await store.get('s')).toBeNull();
    store.close();
  });

  it('gives messages in pages that fit in memory, and matches that do', async () => {
    const store = createSqliteSessionStore({ path: ':memory:', synchronous: 'normal' });
    const text = `needle ${'x'.repeat(999_000)}`;
    for (let i = 0; i < 20; i += 1) {
      await store.append(session, [{ role: 'tool', text, data: { i } }]);
    }
    const read: number[] = [];
    for (;;) {
      const page = await store.messages('s', { afterSequence: read.at(-1) ?? 0 });
      if (page.length === 0) break;
      expect(page.length).toBeLessThan(20);
      read.push(...page.map(({ sequence }) => sequence));
    }
    expect(read).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    for (const { message, snippet } of await store.search('needle')) {
      expect(message.text.length).toBeLessThan(17_000);
      expect(message.data).toBeUndefined();
      expect(snippet.startsWith('[needle] xxx')).toBe(true);
    }
    store.close();
  });

  it('takes a word of a megabyte, and finds it by its beginning', async () => {
    const store = createSqliteSessionStore({ path: ':memory:' });
    await store.append(session, [{ role: 'tool', text: 'f'.repeat(900_000) }]);
    expect(await store.search('f'.repeat(900_000))).toHaveLength(1);
    expect(await store.search('f'.repeat(63))).toEqual([]);
    store.close();
  });

  it('leaves nothing of a deleted session in the index', async () => {
    const path = join(folder, 'sessions.db');
    const store = createSqliteSessionStore({ path });
    await store.append(session, [{ role: 'user', text: 'word' }]);
    await store.append({ ...session, id: 'other' }, [{ role: 'user', text: 'word' }]);
    await store.delete('s');
    store.close();
    const db = openRaw(path);
    const count = (table: string) => db.prepareColumn(`SELECT count(*) FROM ${table}`).get();
    expect(['session', 'message', 'message_words_docsize'].map(count)).toEqual([1, 1, 1]);
    db.close();
  });

  it('keeps messages without words out of the index', async () => {
    const path = join(folder, 'sessions.db');
    const store = createSqliteSessionStore({ path });
    const wordless = ['', ' \n', '—'].map((text) => ({ role: 'assistant', text }) as const);
    await store.append(session, [...wordless, { role: 'user', text: 'word' }]);
    await store.append({ ...session, id: 'other' }, wordless);
    expect(await store.messages('s')).toHaveLength(4);
    expect(await store.search('word')).toMatchObject([{ message: { sequence: 4 } }]);
    const db = openRaw(path);
    const indexed = () => db.prepareColumn('SELECT count(*) FROM message_words_docsize').get();
    expect(indexed()).toBe(1);
    // To delete what isn't in the index leaves the rest of it alone.
    expect(await store.delete('other')).toBe(true);
    expect([indexed(), (await store.search('word')).length]).toEqual([1, 1]);
    expect(await store.delete('s')).toBe(true);
    expect([indexed(), await store.search('word')]).toEqual([0, []]);
    db.close();
    store.close();
  });

  it('keeps a lock of another process from losing an append', async () => {
    const path = join(folder, 'sessions.db');
    const store = createSqliteSessionStore({ path, busyTimeoutMs: 100 });
    const other = openRaw(path);
    other.exec('BEGIN IMMEDIATE');
    expect(await codeOf(store.append(session, [{ role: 'user', text: 'x' }]))).toBe(
      'STORE_UNAVAILABLE',
    );
    other.exec('ROLLBACK');
    await store.append(session, [{ role: 'user', text: 'y' }]);
    expect(await store.messages('s')).toMatchObject([{ sequence: 1, text: 'y' }]);
    other.close();
    store.close();
  });
});

describe('createSqliteMemory', () => {
  it.each<[string, object, string[], string]>([
    ['a section', { maxSectionChars: 10 }, ['0123456789'], 'done'],
    ['a section over it', { maxSectionChars: 10 }, ['0123456789x'], 'MEMORY_TOO_LARGE'],
    ['a section that grows over it', { maxSectionChars: 10 }, ['0123', '4567'], 'done'],
    ['one more', { maxSectionChars: 10 }, ['0123', '45678'], 'MEMORY_TOO_LARGE'],
    ['a memory over it', { maxDocumentChars: 10 }, ['0123456789'], 'MEMORY_TOO_LARGE'],
  ])('holds to the cap of %s', async (_, options, texts, expected) => {
    const memory = createSqliteMemory({ path: ':memory:', ...options });
    let code: unknown;
    for (const text of texts) {
      code = await codeOf(memory.change('global', { kind: 'add', section: 'A', text }));
    }
    expect(code).toBe(expected);
    memory.close();
  });

  it('keeps what it has from one time to the next, and the latest versions only', async () => {
    const path = join(folder, 'memory.db');
    const first = createSqliteMemory({ path, maxVersions: 3 });
    for (let i = 0; i < 10; i += 1) {
      await first.change('global', { kind: 'add', section: 'A', text: `${i}` });
    }
    first.close();
    const second = createSqliteMemory({ path, maxVersions: 3 });
    const { sections, revision } = await second.read('global');
    expect([sections[0]?.text.length, revision]).toEqual([28, '10']);
    expect((await second.versions('global')).map((each) => each.revision)).toEqual(['9', '8', '7']);
    second.close();
  });
});

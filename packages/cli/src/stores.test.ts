import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMarkdownMemory } from '@ethosagent/storage-fs';
import { createPostgresStores, PostgresAuditSink } from '@ethosagent/storage-postgres';
import { createSqliteKvStore, createSqliteSessionStore } from '@ethosagent/storage-sqlite';
import { isLongRun, newPostgresDatabase } from '@ethosagent/test-support';
import { moveStores, storesAt } from '@ethosagent/wiring/stores';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openCliHome } from './fixtures/cli-home.js';

const FILES = {
  '.ethos/personalities/coder/config.yaml': `name: Coder
toolset: [read_file, write_file]
fs_reach:
  read: ["\${CWD}/notes"]
  write: ["\${CWD}/notes"]
`,
  'notes/a.txt': 'hello',
};
const READ = '{"path":"notes/a.txt"}';
const WRITE = '{"path":"notes/b.txt","content":"x"}';
const KEY = 'k'.repeat(40);
const EVENT = {
  time: '2026-01-01T00:00:00.000Z',
  sessionId: 's',
  toolName: 't',
  toolCallId: 'c',
  capability: 'network',
  operation: 'fetch',
  decision: 'allowed',
  reason: 'declared',
} as const;

let world: ReturnType<typeof openCliHome>;
let url: string;
beforeEach(async () => {
  world = openCliHome(FILES);
  url = await newPostgresDatabase();
});
afterEach(() => world.remove());

const run = (args: readonly string[], env: Record<string, string> = {}, of = world) =>
  of.run([...args, '--json'], { env });
const json = async (...asked: Parameters<typeof run>) => JSON.parse((await run(...asked)).out);

describe('ethosagent audit verify --database', () => {
  it('checks the events of all writers, and finds a line that was changed', async () => {
    for (const target of ['one', 'two']) {
      const sink = await PostgresAuditSink.open({ url, key: KEY });
      sink.record({ ...EVENT, target });
      await sink.close();
    }
    const verify = ['audit', 'verify', '--database'];
    const env = { ETHOS_STORES: url, ETHOS_AUDIT_KEY: KEY };
    expect(await json(verify, env)).toMatchObject({ ok: true, events: 2 });
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`UPDATE ethos.audit_line SET line =
      convert_to(replace(convert_from(line, 'UTF8'), '"two"', '"too"'), 'UTF8')`);
    await client.end();
    const { code, out } = await run(verify, env);
    expect([code, JSON.parse(out).ok]).toEqual([1, false]);
    expect((await run(verify, { ...env, ETHOS_AUDIT_KEY: '' })).code).toBe(2);
    expect((await run(verify)).out).toContain('which database?');
    expect((await run([...verify, '--stores', 'redis://localhost'])).code).toBe(2);
  });
});

describe('ethosagent --stores', () => {
  it('decides on one machine what another one asked, and nothing is in the home', async () => {
    const other = openCliHome(FILES);
    onTestFinished(other.remove);
    await run(['call', 'read_file', READ, '--session', 's', '--stores', url]);
    const asked = await json(['call', 'write_file', WRITE, '--session', 's', '--stores', url]);
    const env = { ETHOS_STORES: url };
    const waiting = await json(['approvals', 'list'], env, other);
    expect(JSON.stringify(waiting)).toContain(asked.approval.toolCallId);
    await run(['approvals', 'approve', asked.approval.toolCallId], env, other);
    await run(['sessions', 'resume', 's'], env);
    expect(readFileSync(join(world.cwd, 'notes/b.txt'), 'utf8')).toBe('x');
    expect(await json(['approvals', 'list'], env)).not.toContain(asked.approval.toolCallId);
    for (const file of ['state.sqlite', 'sessions.sqlite', 'attachments', 'memory']) {
      expect(existsSync(join(world.home, file)), file).toBe(false);
    }
  });

  it('keeps secrets encrypted in the database with a key, and in the home without', async () => {
    const readInput = async () => 'sk-value';
    const set = ['secrets', 'set', 'providers/x/apiKey', '--json'];
    const shared = { ETHOS_STORES: url, ETHOS_STORES_KEY: KEY };
    await world.run(set, { env: shared, readInput });
    expect(existsSync(join(world.home, 'secrets/providers'))).toBe(false);
    expect(await json(['secrets', 'list'], shared)).toEqual([
      { ref: 'providers/x/apiKey', place: 'store' },
    ]);
    await world.run(set, { env: { ETHOS_STORES: url }, readInput });
    expect(readFileSync(join(world.home, 'secrets/providers/x/apiKey'), 'utf8')).toBe('sk-value\n');
    const removed = await run(['secrets', 'remove', 'providers/x/apiKey'], shared);
    expect(removed.code).toBe(0);
    expect(await json(['secrets', 'list'], shared)).toEqual([]);
  });

  it.each([
    ['away', 'postgresql://agent:secretword@127.0.0.1:9/agents', 'STORE_UNAVAILABLE'],
    ['of another kind', 'https://agent:secretword@127.0.0.1/agents', 'CONFIG_INVALID'],
    ['no URL', 'secretword', 'CONFIG_INVALID'],
    ['empty', '', 'CONFIG_INVALID'],
  ])('says so of a database that is %s, without its password', async (_, at, code) => {
    const { code: exit, out, err } = await run(['sessions', 'list', '--stores', at]);
    expect(exit).toBe(2);
    expect(JSON.parse(out).error.code).toBe(code);
    expect(out + err).not.toContain('secretword');
  });
});

describe('ethosagent stores move', () => {
  const [KEYS, SESSIONS] = isLongRun() ? [700, 12] : [250, 6];
  // Their names begin with `k4`.
  const LOST = isLongRun() ? 111 : 11;

  /** Fills a home with state of every kind. */
  async function fill() {
    const kv = createSqliteKvStore({ path: join(world.home, 'state.sqlite') });
    for (let n = 0; n < KEYS; n++)
      await kv.kvStoreFactory('t', `tool:${n % 3}`).set(`k${n}`, `v${n}`);
    await kv.kvStoreFactory('t', 'tool:ttl').set('soon', 'x', { ttlSeconds: 3_600 });
    await kv.kvStoreFactory('t', 'tool:ttl').set('\0\u{1f600}', '');
    kv.close();
    const sessions = createSqliteSessionStore({ path: join(world.home, 'sessions.sqlite') });
    for (let n = 0; n < SESSIONS; n++) {
      await sessions.append(
        { id: `s${n}`, scopeId: 'personality:coder', userScopeId: `u@example.com`, key: 'cli:x' },
        Array.from({ length: 40 * n + 1 }, (_, at) => ({
          ...{ role: 'user' as const, text: `Say ${at}\0`, data: { b: at, a: [null, 'ü'] } },
          createdAt: 1_000_000 + at,
        })),
      );
    }
    sessions.close();
    const write = (path: string, text: string) => {
      mkdirSync(join(world.home, path, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(join(world.home, path), text, { mode: 0o600 });
    };
    write('memory/global.md', '## Tastes\n\nTea.\n\n## Work\n\nWood.\n');
    write('personalities/coder/memory.md', '## Own\n\nMine.\n');
    await world.run(['secrets', 'set', 'a/b'], { readInput: async () => 'sk-value' });
    return { to: ['stores', 'move', '--to', url], env: { ETHOS_STORES_KEY: KEY } };
  }

  const inHome = () => createMarkdownMemory({ dir: join(world.home, 'memory') });
  const inDatabase = () => createPostgresStores(url).memory;

  const sumOf = ({ stores }: { stores: { store: string; items: number; moved: number }[] }) =>
    Object.fromEntries(stores.map(({ store, items, moved }) => [store, [items, moved]]));

  async function sql(text: string) {
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    return (await client.query(text)).rows;
  }

  it('copies all state, reads it back, and does nothing the second time', async () => {
    const { to, env } = await fill();
    const { code, out } = await run(to, env);
    const report = JSON.parse(out);
    expect(report.ok, out).toBe(true);
    expect(code).toBe(0);
    expect(sumOf(report)).toEqual({
      keyValue: [KEYS + 2, KEYS + 2],
      sessions: [SESSIONS, SESSIONS],
      memory: [2, 2],
      attachments: [0, 0],
      secrets: [1, 1],
    });
    expect(out).not.toContain('sk-value');
    const again = await json(to, env);
    expect(Object.values(sumOf(again)).map(([, moved]) => moved)).toEqual([0, 0, 0, 0, 0]);
    expect(again.stores.map(({ digest }: { digest: string }) => digest)).toEqual(
      report.stores.map(({ digest }: { digest: string }) => digest),
    );
    const stores = createPostgresStores(url);
    const { store, close } = await stores.sessions.open();
    onTestFinished(close);
    expect(await store.get('s3')).toMatchObject({
      messageCount: 121,
      startedAt: 1_000_000,
      key: 'cli:x',
    });
    expect((await store.search('Say 120', { sessionId: 's3' })).length).toBeGreaterThan(0);
    const [{ left }] = await sql(
      `SELECT (expires_at / 1000 - extract(epoch FROM now())) AS left FROM ethos.key_value WHERE expires_at IS NOT NULL`,
    );
    expect(Number(left)).toBeGreaterThan(3_000);
    expect(Number(left)).toBeLessThanOrEqual(3_600);
    expect(await json(['secrets', 'list'], { ETHOS_STORES: url, ...env })).toEqual([
      { ref: 'a/b', place: 'store' },
    ]);
  });

  it('goes on where one was interrupted', async () => {
    const { to, env } = await fill();
    const stopped = new AbortController();
    const moving = moveStores({
      home: world.home,
      to: await storesAt(url, { secretsKey: KEY }),
      signal: stopped.signal,
      onProgress: (store, done) => store === 'keyValue' && done === 100 && stopped.abort(),
    });
    await expect(moving).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    const [{ n }] = await sql('SELECT count(*)::int AS n FROM ethos.key_value');
    expect([n > 0, n < KEYS + 2]).toEqual([true, true]);
    await json(to, env);
    // As after a process that was killed while it copied a session, a memory and keys.
    await sql(`DELETE FROM ethos.message WHERE sequence > 5;
      UPDATE ethos.session SET message_count = least(message_count, 5);
      DELETE FROM ethos.key_value WHERE substring(key FROM 1 FOR 2) = 'k4';
      UPDATE ethos.memory SET sections = '[{"heading":"Tastes","text":"Tea."}]'
        WHERE sections LIKE '%Tastes%'; DELETE FROM ethos.secret`);
    const report = await json(to, env);
    expect(report.ok).toBe(true);
    expect(sumOf(report)).toMatchObject({
      keyValue: [KEYS + 2, LOST],
      sessions: [SESSIONS, SESSIONS - 1],
      memory: [2, 1],
    });
  });

  it.runIf(isLongRun())(
    'leaves what the database has otherwise, and says so, until it is told to replace it',
    async () => {
      const { to, env } = await fill();
      await run(to, env);
      await sql(`UPDATE ethos.key_value SET value = 'newer' WHERE key = 'k7';
      UPDATE ethos.message SET text = 'forged' WHERE sequence = 1 AND session =
        (SELECT id FROM ethos.session WHERE session_id = 's5');
      UPDATE ethos.memory SET sections = '[{"heading":"Other","text":"x"}]' WHERE sections LIKE '%Tastes%'`);
      const { code, out } = await run(to, env);
      expect(code).toBe(1);
      const others = JSON.parse(out).stores.flatMap(({ others }: { others: string[] }) => others);
      expect(others.sort()).toEqual(['global', 's5', 'tool:1 k7']);
      expect(await sql(`SELECT value FROM ethos.key_value WHERE value = 'newer'`)).toHaveLength(1);
      expect((await json([...to, '--replace'], env)).ok).toBe(true);
      expect(await sql(`SELECT value FROM ethos.key_value WHERE value = 'newer'`)).toHaveLength(0);
    },
  );

  it.runIf(isLongRun())('takes a session that went on in the database as it is there', async () => {
    const { to, env } = await fill();
    await run(to, env);
    const { store, close } = await createPostgresStores(url).sessions.open();
    const ref = { id: 's1', scopeId: 'personality:coder', userScopeId: 'u@example.com' };
    await store.append(ref, [{ role: 'user', text: 'more' }]);
    await close();
    expect((await json(to, env)).ok).toBe(true);
  });

  it('takes a memory from which all was removed for one that is not there', async () => {
    const memory = inHome();
    await memory.change('global', { kind: 'add', section: 'Tastes', text: 'Tea.' });
    await memory.change('global', { kind: 'remove', section: 'Tastes' });
    expect(existsSync(join(world.home, 'memory/global.md'))).toBe(true);
    const report = await moveStores({ home: world.home, to: { memory: inDatabase() } });
    expect(report).toMatchObject({ ok: true, stores: [{ items: 0 }] });
    world.write('.ethos/memory/id-somebody.md', 'Mine.');
    const left = await moveStores({ home: world.home, to: { memory: inDatabase() } });
    expect(left.ok).toBe(false);
    expect(left.stays.join()).toContain('1 files in');
  });

  it('writes a memory once where two moves meet', async () => {
    const memory = inHome();
    const sections = Array.from({ length: 8 }, (_, n) => ({ heading: `S${n}`, text: `t${n}` }));
    for (const { heading, text } of sections) {
      await memory.change('global', { kind: 'add', section: heading, text });
    }
    const move = () => moveStores({ home: world.home, to: { memory: inDatabase() } });
    await Promise.all([move(), move()]);
    expect((await move()).ok).toBe(true);
    const { store, close } = await inDatabase().open();
    onTestFinished(close);
    expect((await store.read('global')).sections).toMatchObject(sections);
  });

  it('refuses a home whose state is elsewhere, and needs a place to move to', async () => {
    expect(JSON.parse((await run(['stores', 'move'])).out).error.code).toBe('CONFIG_INVALID');
    world.write('.ethos/ethos.config.mjs', 'export default { stores: { memory: {} } };');
    const { out } = await run(['stores', 'move', '--to', url]);
    expect(JSON.parse(out).error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('memory'),
    });
  });
});

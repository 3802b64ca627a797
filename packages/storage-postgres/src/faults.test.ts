import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type RunningScript, startScript } from '@ethosagent/conformance/attacks';
import {
  bundleScript,
  isLongRun,
  startPostgres,
  type TestPostgres,
} from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import { errorCodeOf } from '@ethosagent/types';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PostgresOptions } from './database/options.js';
import { auditEvent } from './fixtures/audit-event.js';
import { type PostgresAuditOptions, PostgresAuditSink, verifyPostgresAudit } from './index.js';
import { createPostgresStores } from './postgres-stores.js';
import { MIGRATIONS } from './schema/migrations.js';

const appender = await bundleScript(new URL('./fixtures/append-messages.ts', import.meta.url));

let server: TestPostgres;
let shared: string;
beforeAll(async () => {
  server = await startPostgres();
  shared = server.createDatabase();
});
afterAll(() => server.stop());

const codeOf = (call: Promise<unknown>) => call.then(() => 'done', errorCodeOf);

async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** The URL of a database without tables: to empty one takes a tenth of the time of making one. */
async function emptyDatabase(): Promise<string> {
  await sql(shared, 'DROP SCHEMA IF EXISTS ethos, one, two CASCADE');
  return shared;
}

/** The URL of the same server as it answers where it was set up in German: `FEHLER`, not `ERROR`. */
async function inGerman(url: string): Promise<string> {
  const socketIn = (folder: string) => join(folder, '.s.PGSQL.5432');
  const folder = mkdtempSync(join(tmpdir(), 'pg-german-'));
  const real = new URL(url.replace('///', '//localhost/')).searchParams.get('host') ?? '';
  const translator = createServer((client) => {
    const behind = createConnection(socketIn(real));
    client.pipe(behind).on('error', () => client.destroy());
    client.on('error', () => behind.destroy());
    behind
      .on('end', () => client.end())
      .on('data', (bytes) => {
        // As long as the English word, so that the length of the message stays true.
        const text = bytes.toString('latin1').replaceAll('SERROR\0', 'SFEHLR\0');
        client.write(Buffer.from(text, 'latin1'));
      });
  }).listen(socketIn(folder));
  await once(translator, 'listening');
  onTestFinished(() => {
    translator.close();
    rmSync(folder, { recursive: true });
  });
  return url.replace(real, folder);
}

async function opened(options: PostgresOptions) {
  const stores = createPostgresStores({ ...PATIENT_POSTGRES, ...options });
  const [keyValue, sessions, memory] = [
    await stores.keyValue.open(),
    await stores.sessions.open(),
    await stores.memory.open(),
  ];
  onTestFinished(async () => {
    for (const { close } of [keyValue, sessions, memory]) await close();
  });
  return {
    kv: keyValue.store('test', 'scope'),
    sessions: sessions.store,
    memory: memory.store,
    problem: keyValue.problem,
  };
}

describe('createPostgresStores', () => {
  it.each<[string, object]>([
    ['no URL', { url: 'secretword at host' }],
    ['a URL of another kind', { url: 'https://u:secretword@host/db' }],
    ['an invalid port', { url: 'postgresql://u:secretword@host:99999999/db' }],
    ['no text', { url: 7 }],
    ['a schema that is SQL', { url: 'postgresql://h/db', schema: 'a"; DROP SCHEMA public; --' }],
    ['an empty schema', { url: 'postgresql://h/db', schema: '' }],
    ['no connections', { url: 'postgresql://h/db', maxConnections: 0 }],
    ['half a millisecond', { url: 'postgresql://h/db', statementTimeoutMs: 0.5 }],
  ])('refuses %s, and shows nothing of the URL', (_, options) => {
    try {
      Reflect.apply(createPostgresStores, undefined, [options]);
      expect.unreachable();
    } catch (error) {
      expect(errorCodeOf(error)).toBe('CONFIG_INVALID');
      expect(inspect(error, { depth: 9 })).not.toContain('secretword');
    }
  });

  it.each([
    ['nobody listens', 'postgresql://u:secretword@127.0.0.1:1/db', /127\.0\.0\.1:1 failed \(ECONN/],
    [
      'there is no socket',
      'postgresql://u:secretword@/db?host=/nowhere',
      /\/nowhere failed \(ENOENT/,
    ],
    ['there is no such host', 'postgresql://u:secretword@nowhere.invalid/db', /nowhere\.invalid/],
  ])(
    'open where %s is STORE_UNAVAILABLE, with where and without the password',
    async (_, url, says) => {
      const error = await createPostgresStores(url)
        .sessions.open()
        .catch((cause: unknown) => cause);
      expect(errorCodeOf(error)).toBe('STORE_UNAVAILABLE');
      expect(error).toMatchObject({ message: expect.stringMatching(says) });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('secretword');
    },
  );

  it('says what a database that is missing needs', async () => {
    const url = server.url.replace('/postgres?', '/missing?');
    await expect(createPostgresStores(url).memory.open()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('create the database'),
    });
  });

  it('refuses a database in another encoding', async () => {
    await sql(server.url, `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const latin = server.url.replace('/postgres?', '/latin?');
    await expect(createPostgresStores(latin).memory.open()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('makes the tables once where 8 open them at once', async () => {
    const url = await emptyDatabase();
    const opening = Array.from({ length: 8 }, () => createPostgresStores(url).memory.open());
    for (const { close } of await Promise.all(opening)) await close();
    expect(await sql(url, 'SELECT version FROM ethos.migration')).toEqual([
      { version: MIGRATIONS.length },
    ]);
  });

  it('leaves nothing behind where making the tables fails', async () => {
    const url = await emptyDatabase();
    // Another object already has the name of the migration's last table.
    await sql(url, 'CREATE SCHEMA ethos; CREATE VIEW ethos.attachment AS SELECT 1 AS one');
    expect(await codeOf(createPostgresStores(url).memory.open())).toBe('STORE_UNAVAILABLE');
    const [left] = await sql(url, `SELECT to_regclass('ethos.key_value')::text AS left`);
    expect(left).toEqual({ left: null });
    await sql(url, 'DROP VIEW ethos.attachment');
    const { close } = await createPostgresStores(url).memory.open();
    await close();
  });

  it('refuses tables of a newer program, and touches nothing', async () => {
    const url = await emptyDatabase();
    await (await createPostgresStores(url).memory.open()).close();
    await sql(url, 'INSERT INTO ethos.migration (version) VALUES (1000)');
    expect(await codeOf(createPostgresStores(url).keyValue.open())).toBe('STORE_NEWER');
    expect(await sql(url, 'SELECT max(version) AS version FROM ethos.migration')).toEqual([
      { version: 1000 },
    ]);
  });

  it('keeps schemas apart', async () => {
    const url = await emptyDatabase();
    const [one, two] = [await opened({ url, schema: 'one' }), await opened({ url, schema: 'two' })];
    await one.kv.set('k', 'v');
    expect(await two.kv.get('k')).toBeNull();
  });

  it('takes the time of the server, whatever this machine says', async () => {
    const url = await emptyDatabase();
    const { kv, sessions } = await opened({ url });
    await kv.set('k', 'v', { ttlSeconds: 1_000 });
    const [row] = await sql(
      url,
      `SELECT expires_at - extract(epoch FROM now()) * 1000 BETWEEN 0 AND 1000000 AS "isSoon"
       FROM ethos.key_value`,
    );
    expect(row).toEqual({ isSoon: true });
    await sql(url, `UPDATE ethos.key_value SET expires_at = extract(epoch FROM now()) * 1000 - 1`);
    expect(await kv.get('k')).toBeNull();
    const [message] = await sessions.append({ id: 's', scopeId: 'a' }, [
      { role: 'user', text: '' },
    ]);
    const [at] = await sql(url, 'SELECT created_at::float8 AS at FROM ethos.message');
    expect(at).toEqual({ at: message?.createdAt });
  });

  it('acknowledges what is on the disk, also where the server is set to wait for none', async () => {
    const url = server.createDatabase();
    const [{ current_database: name } = {}] = await sql(url, 'SELECT current_database()');
    await sql(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
    await sql(
      url,
      `CREATE TABLE seen (level text);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`,
    );
    const { kv } = await opened({ url });
    await sql(
      url,
      `CREATE TRIGGER see AFTER INSERT ON ethos.key_value EXECUTE FUNCTION public.see()`,
    );
    await kv.set('k', 'v');
    expect(await sql(url, 'SELECT level FROM seen')).toEqual([{ level: 'on' }]);
  });

  it('gives up a statement that waits too long, and goes on', async () => {
    const url = shared;
    const { kv } = await opened({ url, statementTimeoutMs: 200 });
    await kv.set('k', 'v');
    const blocker = new pg.Client(url);
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE ethos.key_value');
    await expect(kv.set('k', 'w')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('statementTimeoutMs'),
    });
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect(await kv.get('k')).toBe('v');
    await kv.set('k', 'x');
    expect(await kv.get('k')).toBe('x');
  });

  it('goes on when a server that was set to read-only is no longer', async () => {
    const url = server.createDatabase();
    const [{ current_database: name } = {}] = await sql(url, 'SELECT current_database()');
    await (await createPostgresStores(url).memory.open()).close();
    const readOnly = (value: string) =>
      sql(server.url, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
    await readOnly('on');
    // One connection, which is open when the server changes.
    const { kv, problem } = await opened({ url, maxConnections: 1 });
    // Secrets are only read while an agent works.
    const { secrets } = createPostgresStores({
      url,
      secretsKey: 'k'.repeat(32),
      ...PATIENT_POSTGRES,
    });
    const reader = (await secrets?.open()) ?? expect.fail();
    onTestFinished(() => reader.close());
    expect(await reader.problem()).toBeUndefined();
    expect(await problem()).toMatch(/25006.* read-only.*primary/);
    await expect(kv.set('k', 'v')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/25006.* read-only.*primary/),
    });
    expect(await problem()).toMatch(/25006/);
    await readOnly('off');
    expect(await problem()).toBeUndefined();
    await kv.set('k', 'w');
    expect(await kv.get('k')).toBe('w');
  });

  it('says that all connections are in use, and that the write was not made', async () => {
    const { sessions } = await opened({ url: shared, maxConnections: 1, connectTimeoutMs: 500 });
    const append = (id: string) =>
      sessions.append({ id, scopeId: 'a' }, [{ role: 'user', text: id }]);
    await append('before');
    const blocker = new pg.Client(shared);
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE ethos.session');
    const waits = append('waits');
    const error = await append('refused').catch((cause: unknown) => cause);
    await blocker.query('ROLLBACK');
    await blocker.end();
    await waits;
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/ALL_BUSY.*maxConnections\.$/),
    });
    expect(await sessions.get('refused')).toBeNull();
  });

  it('refuses calls after close', async () => {
    const { store, close } = await createPostgresStores(shared).keyValue.open();
    const kv = store('test', 'a');
    const last = kv.set('k', 'v');
    await close();
    await last;
    expect(await codeOf(kv.get('k'))).toBe('STORE_UNAVAILABLE');
  });

  it('keeps the other stores open if one is closed twice', async () => {
    const stores = createPostgresStores({ url: shared, ...PATIENT_POSTGRES });
    const [keyValue, memory] = [await stores.keyValue.open(), await stores.memory.open()];
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    const kv = keyValue.store('test', 'a');
    await kv.set('k', 'v');
    expect(await kv.get('k')).toBe('v');
    await keyValue.close();
  });

  it('tells an answer of the server from a broken connection in every language', async () => {
    const url = await emptyDatabase();
    const german = await inGerman(url);
    await expect(sql(german, 'SELECT 1 / 0')).rejects.toMatchObject({ severity: 'FEHLR' });
    const { kv } = await opened({ url: german });
    await sql(url, 'ALTER TABLE ethos.key_value RENAME TO elsewhere');
    await expect(kv.set('k', 'v')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.not.stringContaining('connection broke'),
    });
    await sql(url, 'ALTER TABLE ethos.elsewhere RENAME TO key_value');
    await sql(
      url,
      `CREATE FUNCTION ethos.cut() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
      CREATE TRIGGER cut AFTER INSERT ON ethos.key_value EXECUTE FUNCTION ethos.cut()`,
    );
    await expect(kv.set('k', 'v')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('connection broke'),
    });
  });
});

/**
 * Checks that every text that a script reports as stored is there, followed by its answer, and can
 * be found.
 */
async function assertStored(url: string, scripts: readonly RunningScript[]): Promise<number> {
  const { sessions, memory } = await opened({ url });
  const messages = await sessions.messages('shared', { limit: 10_000 });
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, i) => i + 1));
  const [log] = (await memory.read('global')).sections;
  const entries = new Set(log?.text.split('\n\n'));
  const acknowledged = scripts.flatMap((script) => script.lines());
  for (const text of acknowledged) {
    const place = messages.findIndex((message) => message.text === text);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(messages[place + 1]?.text).toBe(`answer ${text}`);
    expect(entries).toContain(text);
    expect(await sessions.search(`"answer ${text}"`)).toHaveLength(1);
  }
  return acknowledged.length;
}

function startAppending(url: string, id: string, turns: number): RunningScript {
  const script = startScript(appender, { args: [url, id, `${turns}`] });
  onTestFinished(async () => {
    script.child.kill('SIGKILL');
    await script.ended;
  });
  return script;
}

async function hasWritten(script: RunningScript, lines: number): Promise<void> {
  while (script.lines().length < lines && script.child.exitCode === null) {
    await new Promise((resolve) => script.child.stdout?.once('data', resolve));
  }
}

describe('a session and a memory of several processes', () => {
  it.runIf(isLongRun())('lose nothing, and a batch of messages stays together', async () => {
    const url = await emptyDatabase();
    const scripts = ['a', 'b', 'c'].map((id) => startAppending(url, id, 20));
    for (const { ended } of scripts) expect(await ended).toMatchObject({ code: 0, errors: '' });
    expect(await assertStored(url, scripts)).toBe(60);
  });

  it('keep what was acknowledged to processes that were killed', async () => {
    const url = await emptyDatabase();
    const scripts = ['a', 'b'].map((id) => startAppending(url, id, 100_000));
    for (const script of scripts) {
      await hasWritten(script, 10);
      script.child.kill('SIGKILL');
      await script.ended;
    }
    expect(await assertStored(url, scripts)).toBeGreaterThanOrEqual(20);
  });
});

describe('a server that ends in the middle', () => {
  it('loses nothing that was acknowledged, is told of, and the next call works', async () => {
    const url = await emptyDatabase();
    const { kv, sessions, memory, problem } = await opened({ url });
    const ref = { id: 'shared', scopeId: 'global' };
    const stored: string[] = [];
    let refused: unknown;
    async function writeUntilRefused(): Promise<void> {
      for (let i = 0; refused === undefined; i++) {
        try {
          await Promise.all([
            sessions.append(ref, [{ role: 'user', text: `t${i}` }]),
            kv.set(`k${i}`, `t${i}`),
            memory
              .change('global', { kind: 'replace', section: 'S', text: `t${i}` })
              .catch(() => memory.change('global', { kind: 'add', section: 'S', text: `t${i}` })),
          ]);
          stored.push(`t${i}`);
        } catch (error) {
          refused = error;
        }
        if (stored.length === 30) void server.crash();
      }
    }
    await writeUntilRefused();
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.crash();
    const calls = [
      kv.get('k0'),
      kv.set('x', 'y'),
      kv.increment?.('n'),
      kv.list(''),
      sessions.messages('shared'),
      sessions.append(ref, [{ role: 'user', text: 'lost' }]),
      memory.read('global'),
    ];
    const codes = await Promise.all(calls.map((call) => codeOf(Promise.resolve(call))));
    expect(codes).toEqual(calls.map(() => 'STORE_UNAVAILABLE'));
    expect(await problem()).toMatch(/^STORE_UNAVAILABLE: PostgreSQL at \/.* failed/);

    await server.start();
    expect(await kv.increment?.('n')).toBe(1);
    expect(await problem()).toBeUndefined();
    const messages = (await sessions.messages('shared')).map(({ text }) => text);
    for (const text of stored) {
      expect(messages).toContain(text);
      expect(await kv.get(text.replace('t', 'k'))).toBe(text);
    }
    expect(messages).not.toContain('lost');
    await sessions.append(ref, [{ role: 'user', text: 'after' }]);
    expect(stored.length).toBeGreaterThanOrEqual(30);
  });

  it.runIf(isLongRun())('is not noticed by calls that come after it is back', async () => {
    const url = await emptyDatabase();
    const { kv, sessions } = await opened({ url });
    await kv.set('k', 'v');
    await server.crash();
    await server.start();
    expect(await kv.get('k')).toBe('v');
    await kv.set('k', 'w');
    await sessions.append({ id: 's', scopeId: 'a' }, [{ role: 'user', text: 'x' }]);
    expect(await kv.get('k')).toBe('w');
  });
});

describe('a PostgresAuditSink whose server ends', () => {
  const KEY = 'a key of more than sixteen bytes';
  async function openedSink(options: Partial<PostgresAuditOptions> = {}) {
    const url = await emptyDatabase();
    const sink = await PostgresAuditSink.open({ url, key: KEY, ...PATIENT_POSTGRES, ...options });
    onTestFinished(() => sink.close().catch(() => {}));
    return { sink, verify: () => verifyPostgresAudit({ url, key: KEY }) };
  }

  it.runIf(isLongRun())('flush says that the server is away, and forgets nothing', async () => {
    const { sink, verify } = await openedSink();
    sink.record(auditEvent('before'));
    await sink.flush();
    await server.crash();
    sink.record(auditEvent('while it is away'));
    expect(await sink.flush().catch(errorCodeOf)).toBe('STORE_UNAVAILABLE');
    await server.start();
    await vi.waitUntil(
      () =>
        sink.flush().then(
          () => true,
          () => false,
        ),
      { timeout: 3_600_000 },
    );
    expect(await verify()).toMatchObject({ ok: true, events: 2 });
  });

  it('writes what was recorded while the server was away, once, and refuses what is too much', async () => {
    const { sink, verify } = await openedSink({ maxPending: 10 });
    sink.record(auditEvent('before'));
    await sink.flush();
    await server.crash();
    for (let i = 0; i < 10; i++) sink.record(auditEvent(`away ${i}`));
    expect(() => sink.record(auditEvent('too much'))).toThrow(/STORE_UNAVAILABLE/);
    await expect(sink.flush()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.start();
    for (;;) {
      try {
        await sink.flush();
        break;
      } catch {
        // The sink tries again by itself. This only waits for the next answer.
      }
    }
    sink.record(auditEvent('after'));
    await sink.close();
    expect(() => sink.record(auditEvent('late'))).toThrow(/closed/);
    expect(await verify()).toMatchObject({ ok: true, events: 12 });
  });
});

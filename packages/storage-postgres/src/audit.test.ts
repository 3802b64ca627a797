import { startPostgres, type TestPostgres } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import { type AuditEvent, errorCodeOf } from '@ethosagent/types';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PostgresAuditOptions, PostgresAuditSink, verifyPostgresAudit } from './index.js';

const KEY = 'a key of more than sixteen bytes';

let server: TestPostgres;
let url: string;
// One database for all tests: creating one, with its tables, takes longer than most tests.
beforeAll(async () => {
  server = await startPostgres();
  url = server.createDatabase();
  await written(0);
});
afterAll(() => server.stop());
beforeEach(() => sql('TRUNCATE ethos.audit_line, ethos.audit_chain'));

const event = (target: string): AuditEvent => ({
  time: '2026-01-01T00:00:00.000Z',
  sessionId: 's',
  toolName: 't',
  toolCallId: 'c',
  capability: 'network',
  operation: 'fetch',
  target,
  decision: 'allowed',
  reason: 'declared',
});

async function opened(options: Partial<PostgresAuditOptions> = {}): Promise<PostgresAuditSink> {
  const sink = await PostgresAuditSink.open({ url, key: KEY, ...PATIENT_POSTGRES, ...options });
  onTestFinished(() => sink.close().catch(() => {}));
  return sink;
}

/** A chain with this many events, written by its own sink. */
async function written(
  count: number,
  options: Partial<PostgresAuditOptions> = {},
): Promise<string> {
  const sink = await PostgresAuditSink.open({ url, key: KEY, ...PATIENT_POSTGRES, ...options });
  for (let i = 0; i < count; i++) sink.record(event(`\u0000 é 😀 ${i}`));
  await sink.close();
  return sink.id;
}

async function sql(text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

const verify = (key: string | undefined = KEY) => verifyPostgresAudit({ url, key });

describe('PostgresAuditSink', () => {
  it('flush waits for what was recorded before it, and for nothing that comes later', async () => {
    const sink = await opened();
    await sink.flush();
    sink.record(event('first'));
    const flushed = sink.flush();
    // So many events that several statements are needed.
    for (let n = 0; n < 900; n++) sink.record(event(`later ${n}`));
    await flushed;
    expect((await verify()).events).toBeGreaterThan(0);
    await sink.flush();
    expect(await verify()).toMatchObject({ ok: true, events: 901 });
  });

  it('flush says that the server is away, and forgets nothing', async () => {
    const sink = await opened();
    sink.record(event('before'));
    await sink.flush();
    await server.crash();
    sink.record(event('while it is away'));
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

  it('keeps one chain a writer, which are verified together', async () => {
    await Promise.all([written(600), written(20), written(1)]);
    expect(await verify()).toMatchObject({ ok: true, events: 621, problems: [] });
  });

  it.each<[string, string, string]>([
    [
      'a line is changed',
      `UPDATE ethos.audit_line SET line = convert_to(replace(convert_from(line, 'UTF8'), 'allowed', 'denied '), 'UTF8') WHERE seq = 3`,
      'edited',
    ],
    ['a line is removed', 'DELETE FROM ethos.audit_line WHERE seq = 3', 'missing'],
    ['the first line is removed', 'DELETE FROM ethos.audit_line WHERE seq = 1', 'missing'],
    ['the end is removed', 'DELETE FROM ethos.audit_line WHERE seq > 3', 'cut-off'],
    ['all lines are removed', 'DELETE FROM ethos.audit_line', 'cut-off'],
    ['the head is removed', 'DELETE FROM ethos.audit_chain', 'head-missing'],
    [
      'the end is removed, and the head says so',
      `DELETE FROM ethos.audit_line WHERE seq > 3;
       UPDATE ethos.audit_chain SET head = regexp_replace(head, '"seq":\\d+', '"seq":3'), newest = 3`,
      'head-wrong',
    ],
    [
      'two lines change places',
      `UPDATE ethos.audit_line SET seq = -seq WHERE seq IN (2, 3);
       UPDATE ethos.audit_line SET seq = 5 + seq WHERE seq IN (-2, -3)`,
      'out-of-order',
    ],
    [
      'a line is put in',
      `INSERT INTO ethos.audit_line SELECT chain, 6, line FROM ethos.audit_line WHERE seq = 5`,
      'out-of-order',
    ],
    ['a line is no line', `UPDATE ethos.audit_line SET line = 'x' WHERE seq = 2`, 'malformed'],
    [
      'a chain is copied under another name',
      `UPDATE ethos.audit_chain SET id = repeat('0', 32); UPDATE ethos.audit_line SET chain = repeat('0', 32)`,
      'head-wrong',
    ],
  ])('tells when %s', async (_, attack, what) => {
    await written(5);
    await sql(attack);
    const { ok, problems } = await verify();
    expect(ok).toBe(false);
    expect(problems.map((problem) => problem.what)).toContain(what);
  });

  it('is not verified with another key, nor without the key', async () => {
    await written(2);
    expect((await verify('another key of sixteen bytes')).ok).toBe(false);
    await expect(verifyPostgresAudit({ url })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('writes what was recorded while the server was away, once, and refuses what is too much', async () => {
    const sink = await opened({ maxPending: 10 });
    sink.record(event('before'));
    await sink.flush();
    await server.crash();
    for (let i = 0; i < 10; i++) sink.record(event(`away ${i}`));
    expect(() => sink.record(event('too much'))).toThrow(/STORE_UNAVAILABLE/);
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
    sink.record(event('after'));
    await sink.close();
    expect(() => sink.record(event('late'))).toThrow(/closed/);
    expect(await verify()).toMatchObject({ ok: true, events: 12 });
  });
});

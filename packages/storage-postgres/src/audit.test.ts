import { runScript } from '@ethosagent/conformance/attacks';
import { bundleScript, inCheck, newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { auditEvent as event } from './fixtures/audit-event.js';
import { type PostgresAuditOptions, PostgresAuditSink, verifyPostgresAudit } from './index.js';

const KEY = 'a key of more than sixteen bytes';

let url: string;
// One database for all tests: creating one, with its tables, takes longer than most tests.
beforeAll(async () => {
  url = await newPostgresDatabase();
  await written(0);
});
beforeEach(() => sql('TRUNCATE ethos.audit_line, ethos.audit_chain'));

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

  it('tells who waits that the database refuses the events, also if nothing else keeps the process', async () => {
    const closer = await bundleScript(new URL('./fixtures/close-sink.ts', import.meta.url));
    await sql('ALTER TABLE ethos.audit_line RENAME TO elsewhere');
    onTestFinished(() => sql('ALTER TABLE ethos.elsewhere RENAME TO audit_line'));
    expect(await runScript(closer, { args: [url] })).toEqual([
      'flush STORE_UNAVAILABLE',
      'close STORE_UNAVAILABLE',
    ]);
  });

  it('keeps one chain a writer, which are verified together', async () => {
    await Promise.all([written(600), written(20), written(1)]);
    expect(await verify()).toMatchObject({ ok: true, events: 621, problems: [] });
  });

  const attacks: [string, string, string][] = [
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
  ];
  const standing = [
    'a line is changed',
    'the end is removed',
    'all lines are removed',
    'the head is removed',
    'the end is removed, and the head says so',
    'a chain is copied under another name',
  ];
  it.each(inCheck(attacks, ([what]) => standing.includes(what)))(
    'tells when %s',
    async (_, attack, what) => {
      await written(5);
      await sql(attack);
      const { ok, problems } = await verify();
      expect(ok).toBe(false);
      expect(problems.map((problem) => problem.what)).toContain(what);
    },
  );

  it('is not verified with another key, nor without the key', async () => {
    await written(2);
    expect((await verify('another key of sixteen bytes')).ok).toBe(false);
    await expect(verifyPostgresAudit({ url })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

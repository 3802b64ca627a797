import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLogReader } from './audit-log-reader.js';
import { auditEvent } from './fixtures/audit-event.js';
import { JsonlAuditSink } from './jsonl-audit-sink.js';

let folder: string;
const sinks: JsonlAuditSink[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-reader-'));
});
afterEach(() => {
  for (const sink of sinks.splice(0)) sink.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (name = 'audit.jsonl', options: { maxBytes?: number; maxFiles?: number } = {}) => {
  const sink = new JsonlAuditSink({ path: join(folder, name), ...options });
  sinks.push(sink);
  return sink;
};
const targets = async (reader: AuditLogReader) => {
  const found: string[] = [];
  for await (const { event } of reader.read()) if ('target' in event) found.push(event.target);
  return found;
};

describe('AuditLogReader', () => {
  it('gives each event once, of logs that begin later too', async () => {
    const reader = new AuditLogReader(join(folder, 'none'));
    expect([await reader.hasLogs(), await targets(reader)]).toEqual([false, []]);
    const own = new AuditLogReader(folder);
    const first = open();
    first.record(auditEvent('a'));
    expect(await targets(own)).toEqual(['a']);
    expect(await targets(own)).toEqual([]);
    const second = open('audit-2.jsonl');
    second.record({ ...auditEvent('c'), time: '2026-01-02T03:04:07.000Z' });
    first.record({ ...auditEvent('b'), time: '2026-01-02T03:04:06.000Z' });
    expect(await targets(own)).toEqual(['b', 'c']);
  });

  it('loses and repeats nothing while the log is rotated', async () => {
    const reader = new AuditLogReader(folder);
    const sink = open('audit.jsonl', { maxBytes: 600, maxFiles: 1_000 });
    const found: string[] = [];
    for (let event = 0; event < 60; event += 1) {
      sink.record(auditEvent(`e${event}`));
      if (event % 7 === 0) found.push(...(await targets(reader)));
    }
    found.push(...(await targets(reader)));
    expect(found).toEqual(Array.from({ length: 60 }, (_, event) => `e${event}`));
  });

  it('goes on where rotation removes the oldest files', async () => {
    const reader = new AuditLogReader(folder);
    const sink = open('audit.jsonl', { maxBytes: 600, maxFiles: 2 });
    for (let event = 0; event < 40; event += 1) {
      sink.record(auditEvent(`e${event}`));
      expect(await targets(reader)).toEqual([`e${event}`]);
    }
  });

  it('waits for the end of a line', async () => {
    const reader = new AuditLogReader(folder);
    const sink = open();
    sink.record(auditEvent('a'));
    sink.record(auditEvent('b'));
    sink.close();
    const log = join(folder, 'audit.jsonl');
    const whole: string[] = [];
    for await (const { seq } of new AuditLogReader(folder).read()) whole.push(String(seq));
    expect(whole).toEqual(['1', '2']);
    const text = readFileSync(log, 'utf8');
    truncateSync(log, text.length - 10);
    expect(await targets(reader)).toEqual(['a']);
    appendFileSync(log, text.slice(-10));
    expect(await targets(reader)).toEqual(['b']);
  });

  it('gives again what was not read to the end', async () => {
    const reader = new AuditLogReader(folder);
    const sink = open();
    for (const target of ['a', 'b', 'c']) sink.record(auditEvent(target));
    for await (const _ of reader.read()) break;
    expect(await targets(reader)).toEqual(['b', 'c']);
  });

  it('reads a log from its begin that replaced another', async () => {
    const reader = new AuditLogReader(folder);
    const sink = open();
    sink.record(auditEvent('a'));
    await targets(reader);
    sink.close();
    renameSync(join(folder, 'audit.jsonl'), join(folder, 'old'));
    rmSync(join(folder, 'audit.jsonl.head'), { force: true });
    open().record(auditEvent('new'));
    expect(await targets(reader)).toEqual(['new']);
  });

  it('passes over what no sink wrote', async () => {
    const sink = open();
    sink.record(auditEvent('a'));
    sink.close();
    appendFileSync(join(folder, 'audit.jsonl'), '{"time":"x"}\nnonsense\n');
    expect(await targets(new AuditLogReader(folder))).toEqual(['a']);
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditSink } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { auditEvent } from './fixtures/audit-event.js';
import { JsonlAuditSink } from './jsonl-audit-sink.js';
import { MemoryAuditSink } from './memory-audit-sink.js';
import { teeAuditSink } from './tee-audit-sink.js';
import { verifyAuditLog } from './verify-audit-log.js';

const root = mkdtempSync(join(tmpdir(), 'tee-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('teeAuditSink', () => {
  it('gives every event to every sink', () => {
    const sinks = [new MemoryAuditSink(), new MemoryAuditSink()];
    const events = [auditEvent('a'), auditEvent('b')];
    const tee = teeAuditSink(...sinks);
    for (const event of events) tee.record(event);
    expect(sinks.map((sink) => sink.events)).toEqual([events, events]);
  });

  it.each<[what: string, record: () => unknown, message: string]>([
    [
      'throws',
      () => {
        throw new Error('full');
      },
      'full',
    ],
    ['returns a promise', async () => {}, 'returned a promise'],
    [
      'returns a promise that rejects',
      async () => {
        throw new Error('late');
      },
      'returned a promise',
    ],
  ])('throws when a sink %s, and the others have the event', (_what, record, message) => {
    const [before, after] = [new MemoryAuditSink(), new MemoryAuditSink()];
    const broken: AuditSink = { record };
    const event = auditEvent('a');
    expect(() => teeAuditSink(before, broken, after).record(event)).toThrow(message);
    expect([before.events, after.events]).toEqual([[event], [event]]);
  });

  it('waits for each sink that keeps its events later', async () => {
    expect(teeAuditSink(new MemoryAuditSink()).flush).toBeUndefined();
    const flushed: string[] = [];
    const sink = (name: string): AuditSink => ({
      record() {},
      flush: async () => void flushed.push(name),
    });
    const broken: AuditSink = {
      record() {},
      flush: () => Promise.reject(new Error('the server is away')),
    };
    await teeAuditSink(sink('a'), new MemoryAuditSink(), sink('b')).flush?.();
    expect(flushed).toEqual(['a', 'b']);
    await expect(teeAuditSink(sink('c'), broken).flush?.()).rejects.toThrow('away');
  });

  it('hands on how long an access took, whatever a sink does', () => {
    const told: number[] = [];
    const broken: AuditSink = {
      record() {},
      completed() {
        throw new Error('full');
      },
    };
    const listening: AuditSink = { record() {}, completed: (_event, ms) => told.push(ms) };
    teeAuditSink(broken, new MemoryAuditSink(), listening).completed?.(auditEvent('a'), 12);
    expect(told).toEqual([12]);
  });
});

describe('JsonlAuditSink with durations', () => {
  const linesOf = (path: string) =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('writes a line that names the event, and the log still verifies', async () => {
    const path = join(root, 'durations.jsonl');
    const sink = new JsonlAuditSink({ path, durations: true });
    const [first, second] = [auditEvent('a'), auditEvent('b')];
    sink.record(first);
    sink.record(second);
    sink.completed(second, 7);
    sink.completed(first, 1500);
    // The first event was never recorded, and the second one has already ended.
    sink.completed(auditEvent('c'), 1);
    sink.completed(first, 2);
    sink.close();
    expect(linesOf(path).slice(2)).toMatchObject([
      { seq: 3, sessionId: 's', toolCallId: 'c', completes: 2, durationMs: 7 },
      { seq: 4, completes: 1, durationMs: 1500, time: '2026-01-02T03:04:06.506Z' },
    ]);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 4, problems: [] });
  });

  it('writes none without the option', () => {
    const path = join(root, 'plain.jsonl');
    const sink = new JsonlAuditSink({ path });
    const event = auditEvent('a');
    sink.record(event);
    sink.completed(event, 7);
    sink.close();
    expect(linesOf(path)).toHaveLength(1);
  });
});

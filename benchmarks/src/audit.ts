import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlAuditSink } from '@ethosagent/audit';
import type { AuditEvent } from '@ethosagent/types';
import { sideBySide } from './side-by-side.js';

const EVENTS = 1_000;
const event: AuditEvent = {
  time: '2026-01-01T00:00:00.000Z',
  sessionId: 'session-1',
  personalityId: 'coder',
  toolName: 'read_file',
  toolCallId: 'call-1',
  capability: 'fs_reach.read',
  operation: 'read',
  target: '/home/ada/project/src/main.ts',
  decision: 'allowed',
  reason: 'declared from-personality',
};

/**
 * An event into the chain of the log, beside a line of JSON that nothing ties. With batches, the
 * events are recorded in one turn, and their being in the file is waited for.
 */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-audit-'));
  const sinks = {
    'JsonlAuditSink, without a key': new JsonlAuditSink({ path: join(folder, 'plain.jsonl') }),
    'JsonlAuditSink, with a key': new JsonlAuditSink({
      path: join(folder, 'keyed.jsonl'),
      key: 'k'.repeat(32),
    }),
    'JsonlAuditSink with batches, without a key': new JsonlAuditSink({
      path: join(folder, 'plain-batches.jsonl'),
      batch: true,
    }),
    'JsonlAuditSink with batches and a key': new JsonlAuditSink({
      path: join(folder, 'keyed-batches.jsonl'),
      key: 'k'.repeat(32),
      batch: true,
    }),
  };
  const raw = openSync(join(folder, 'raw.jsonl'), 'a');
  const RAW = 'a line of JSON, written at once';
  try {
    await sideBySide(`Audit: ${EVENTS} events, one after the other`, [
      {
        name: RAW,
        operations: EVENTS,
        run: () => {
          for (let n = 0; n < EVENTS; n++) writeSync(raw, `${JSON.stringify(event)}\n`);
        },
      },
      ...Object.entries(sinks).map(([name, sink]) => ({
        name,
        operations: EVENTS,
        run: () => {
          for (let n = 0; n < EVENTS; n++) sink.record(event);
          return sink.flush?.();
        },
        beside: RAW,
      })),
    ]);
  } finally {
    for (const sink of Object.values(sinks)) sink.close();
    closeSync(raw);
    rmSync(folder, { recursive: true });
  }
}

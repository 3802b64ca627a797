import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from '@ethosagent/types';
import { afterAll, describe, expect, it } from 'vitest';
import { JsonlAuditSink } from './jsonl-audit-sink.js';

const root = mkdtempSync(join(tmpdir(), 'jsonl-audit-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(root, `${++files}`, 'deep', 'audit.jsonl');

function event(target: string): AuditEvent {
  return {
    time: '2026-01-02T03:04:05.006Z',
    sessionId: 's',
    toolName: 't',
    toolCallId: 'c',
    capability: 'storage',
    operation: 'get',
    target,
    decision: 'allowed',
    reason: 'inside the reach',
  };
}

function targets(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).target);
}

describe('JsonlAuditSink', () => {
  it('writes each event as one line before record returns', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path });
    sink.record(event('a'));
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(event('a'))}\n`);
    sink.record(event('b'));
    expect(targets(path)).toEqual(['a', 'b']);
    sink.close();
  });

  it.each([['line\nbreak'], ['\u2028'], ['"quotes"'], ['\ud800'], ['\0'], ['ü😀']])(
    'keeps %j on one line that parses',
    (target) => {
      const path = newPath();
      const sink = new JsonlAuditSink({ path });
      sink.record(event(target));
      sink.record(event('next'));
      sink.close();
      expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
      expect(targets(path)).toEqual([target, 'next']);
    },
  );

  it('makes the file 0600 and its folder 0700', () => {
    const path = newPath();
    new JsonlAuditSink({ path }).close();
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(path, '..')).mode & 0o777).toString(8)).toBe('700');
  });

  it('appends to what is there', () => {
    const path = newPath();
    for (const target of ['a', 'b']) {
      const sink = new JsonlAuditSink({ path });
      sink.record(event(target));
      sink.close();
    }
    expect(targets(path)).toEqual(['a', 'b']);
  });

  it('begins a new line after one that a crash cut off', () => {
    const path = newPath();
    new JsonlAuditSink({ path }).close();
    writeFileSync(path, `${JSON.stringify(event('a'))}\n{"time":"2026`);
    const sink = new JsonlAuditSink({ path });
    sink.record(event('b'));
    sink.close();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? '').target).toBe('b');
  });

  it('rotates before a line that would pass maxBytes, and keeps maxFiles', () => {
    const path = newPath();
    const size = Buffer.byteLength(`${JSON.stringify(event('00'))}\n`);
    const sink = new JsonlAuditSink({ path, maxBytes: size * 3, maxFiles: 2 });
    const names = Array.from({ length: 14 }, (_, index) => String(index).padStart(2, '0'));
    for (const name of names) sink.record(event(name));
    sink.close();
    expect(targets(path)).toEqual(['12', '13']);
    expect(targets(`${path}.1`)).toEqual(['09', '10', '11']);
    expect(targets(`${path}.2`)).toEqual(['06', '07', '08']);
    expect(existsSync(`${path}.3`)).toBe(false);
    expect((statSync(`${path}.1`).mode & 0o777).toString(8)).toBe('600');
  });

  it('counts what was there towards maxBytes', () => {
    const path = newPath();
    const size = Buffer.byteLength(`${JSON.stringify(event('a'))}\n`);
    for (const target of ['a', 'b', 'c']) {
      const sink = new JsonlAuditSink({ path, maxBytes: size * 2 });
      sink.record(event(target));
      sink.close();
    }
    expect([targets(path), targets(`${path}.1`)]).toEqual([['c'], ['a', 'b']]);
  });

  it('writes a line that is larger than maxBytes whole', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: 10 });
    sink.record(event('x'.repeat(1000)));
    sink.close();
    expect(targets(path)).toEqual(['x'.repeat(1000)]);
  });

  it('refuses while it can not rotate, and goes on when it can', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: 1, maxFiles: 1 });
    sink.record(event('a'));
    mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
    expect(() => sink.record(event('b'))).toThrow();
    expect(targets(path)).toEqual(['a']);
    rmSync(`${path}.1`, { recursive: true });
    sink.record(event('c'));
    expect([targets(`${path}.1`), targets(path)]).toEqual([['a'], ['c']]);
    sink.close();
  });

  it('throws when it is closed, so that the access is refused', () => {
    const sink = new JsonlAuditSink({ path: newPath() });
    sink.close();
    sink.close();
    expect(() => sink.record(event('a'))).toThrow('closed');
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScript } from '@ethosagent/test-support';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { auditEvent } from './fixtures/audit-event.js';
import { type JsonlAuditOptions, JsonlAuditSink } from './jsonl-audit-sink.js';
import { verifyAuditLog } from './verify-audit-log.js';

const root = mkdtempSync(join(tmpdir(), 'batched-audit-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let logs = 0;
const key = 'a key of 16 bytes or more';
// The first line of a file also contains the previous hash.
const THREE_LINES = 1_000;

function open(options: Omit<JsonlAuditOptions, 'path'> = {}) {
  const path = join(root, `${++logs}`, 'audit.jsonl');
  const sink = new JsonlAuditSink({ path, batch: true, ...options });
  onTestFinished(() => sink.close());
  return { path, sink };
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const targetsOf = (path: string) => linesOf(path).map((line) => JSON.parse(line).target);
const names = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
const record = (sink: JsonlAuditSink, targets: readonly string[]) => {
  for (const target of targets) sink.record(auditEvent(target));
};

describe('JsonlAuditSink with batches', () => {
  it('writes the lines of a turn together, and says when they are there', async () => {
    const { path, sink } = open();
    record(sink, ['a', 'b', 'c']);
    expect(readFileSync(path, 'utf8')).toBe('');
    await sink.flush?.();
    expect(targetsOf(path)).toEqual(['a', 'b', 'c']);
    expect(JSON.parse(readFileSync(`${path}.head`, 'utf8'))).toMatchObject({ seq: 3 });
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 3 });
  });

  it('writes them although nobody waits', async () => {
    const { path, sink } = open();
    record(sink, ['a']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(targetsOf(path)).toEqual(['a']);
  });

  it('has no flush without batches, for which a runtime would wait in each call', () => {
    expect(open({ batch: false }).sink.flush).toBeUndefined();
  });

  it.each([
    ['a thousand lines', names(1_001), 1_000],
    ['a megabyte', names(3).map((name) => name.padEnd(600_000)), 2],
  ])('writes within a turn what would be more than %s', async (_, targets, written) => {
    const { path, sink } = open();
    record(sink, targets);
    expect(linesOf(path)).toHaveLength(written);
    await sink.flush?.();
    expect(targetsOf(path)).toEqual(targets);
    // The next turn begins anew: its lines wait again.
    record(sink, ['x', 'y']);
    expect(linesOf(path)).toHaveLength(targets.length);
    await sink.flush?.();
    expect(targetsOf(path)).toEqual([...targets, 'x', 'y']);
  });

  it('rotates before the line that would make the file larger than maxBytes, not before', async () => {
    const { path, sink } = open();
    record(sink, ['a', 'b']);
    await sink.flush?.();
    const { size } = statSync(path);
    for (const [maxBytes, rotated] of [
      [size, false],
      [size - 1, true],
    ] as const) {
      const limited = open({ maxBytes });
      record(limited.sink, ['a', 'b']);
      await limited.sink.flush?.();
      expect(existsSync(`${limited.path}.1`)).toBe(rotated);
    }
  });

  it('rotates between the lines of one turn', async () => {
    const { path, sink } = open({ maxBytes: THREE_LINES, maxFiles: 2, key });
    record(sink, names(14));
    await sink.flush?.();
    expect(targetsOf(path)).toEqual(['t12', 't13']);
    expect(targetsOf(`${path}.1`)).toEqual(['t9', 't10', 't11']);
    expect(targetsOf(`${path}.2`)).toEqual(['t6', 't7', 't8']);
    expect(await verifyAuditLog({ path, key })).toMatchObject({ ok: true, events: 8 });
  });

  it('writes the same lines as without batches, apart from the id of the log', async () => {
    const texts = [];
    for (const batch of [true, false]) {
      const { path, sink } = open({ batch, durations: true, maxBytes: THREE_LINES });
      for (const target of names(7)) {
        const event = auditEvent(target);
        sink.record(event);
        sink.completed(event, 5);
      }
      await sink.flush?.();
      const files = ['.3', '.2', '.1', ''].map((suffix) => path + suffix).filter(existsSync);
      texts.push(
        files.map((file) =>
          linesOf(file).map((line) => line.replaceAll(/"(prev|hash)":"\w+"/g, '')),
        ),
      );
    }
    expect(texts[0]?.length).toBeGreaterThan(1);
    expect(texts[0]).toEqual(texts[1]);
    expect(JSON.stringify(texts[0])).toContain('completes');
  });

  it('writes what waits when it is closed, and refuses what comes later in the same turn', async () => {
    const { path, sink } = open();
    record(sink, ['a', 'b']);
    sink.close();
    expect(targetsOf(path)).toEqual(['a', 'b']);
    expect(() => record(sink, ['c'])).toThrow(/STORAGE_FAILED: .* is closed/);
    await sink.flush?.();
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 2 });
  });

  it.each(['exits', 'throws', 'closes', 'comes to its end', 'ends beside a sink that fails'])(
    'writes what waits when its process %s',
    async (ending) => {
      const path = join(root, `${++logs}`, 'audit.jsonl');
      const script = await bundleScript(new URL('./fixtures/end-with-waiting.ts', import.meta.url));
      const { status, stderr } = spawnSync(process.execPath, [script, path, ending], {
        encoding: 'utf8',
      });
      expect({ status, stderr: ending === 'throws' ? '' : stderr }).toEqual({
        status: ending === 'throws' ? 1 : 0,
        stderr: '',
      });
      expect(targetsOf(path)).toEqual(['a', 'b']);
      expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 2 });
    },
  );

  it('hears the end of its process once for any number of sinks, and not when they are closed', () => {
    const before = process.listenerCount('exit');
    const sinks = names(20).map(() => open().sink);
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const sink of sinks) sink.close();
    expect(process.listenerCount('exit')).toBe(before);
  });
});

describe('JsonlAuditSink with batches that it can not write', () => {
  const failure = expect.objectContaining({ code: 'STORAGE_FAILED' });

  it('says so to whoever waits, refuses what follows, and writes all when it can', async () => {
    const { path, sink } = open();
    record(sink, ['a']);
    await sink.flush?.();
    record(sink, ['b', 'c']);
    renameSync(path, `${path}.away`);
    const flushed = [sink.flush?.(), sink.flush?.()];
    for (const flush of flushed) await expect(flush).rejects.toThrow(failure);
    expect(() => record(sink, ['refused'])).toThrow(failure);
    const again = sink.flush?.();
    // Also while another attempt is on its way.
    expect(() => record(sink, ['refused'])).toThrow(failure);
    await expect(again).rejects.toThrow(failure);
    renameSync(`${path}.away`, path);
    record(sink, ['d']);
    await sink.flush?.();
    expect(targetsOf(path)).toEqual(['a', 'b', 'c', 'd']);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 4 });
  });

  it('refuses the next event where nobody waited', async () => {
    const { path, sink } = open();
    record(sink, ['a']);
    renameSync(path, `${path}.away`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(() => record(sink, ['refused'])).toThrow(failure);
    renameSync(`${path}.away`, path);
  });

  it('writes no line twice where it could begin no other file after the first', async () => {
    const { path, sink } = open({ maxBytes: THREE_LINES, maxFiles: 1 });
    mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
    record(sink, names(5));
    await expect(sink.flush?.()).rejects.toThrow();
    expect(targetsOf(path)).toEqual(['t0', 't1', 't2']);
    rmSync(`${path}.1`, { recursive: true });
    await sink.flush?.();
    expect(targetsOf(`${path}.1`)).toEqual(['t0', 't1', 't2']);
    expect(targetsOf(path)).toEqual(['t3', 't4']);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 5 });
  });

  it('gives its log back when it is closed, and says that events are lost', async () => {
    const { path, sink } = open();
    record(sink, ['a']);
    renameSync(path, `${path}.away`);
    expect(() => sink.close()).toThrow(failure);
    await expect(sink.flush?.()).rejects.toThrow(/is closed/);
    renameSync(`${path}.away`, path);
    new JsonlAuditSink({ path }).close();
  });

  it.runIf(process.platform === 'linux')(
    'keeps what does not fit, leaves no part of it, and writes it when there is room',
    async () => {
      const path = join(root, `${++logs}`, 'audit.jsonl');
      const script = new URL('./fixtures/record-beyond-limit.ts', import.meta.url);
      const node = [process.execPath, await bundleScript(script), path, 'batch'];
      const said = execFileSync('prlimit', ['--fsize=2000:unlimited', ...node], {
        encoding: 'utf8',
      });
      const { recorded, refused, isWhole } = JSON.parse(said);
      expect(refused).toMatch(/EFBIG/);
      expect(isWhole).toBe(true);
      expect(targetsOf(path)).toEqual([...recorded, 'after']);
      expect(await verifyAuditLog({ path })).toMatchObject({ ok: true });
    },
  );
});

/** What a process leaves that was killed after it wrote lines, and before it wrote the head. */
async function withoutHead(count: number, { keyed = false, batch = true } = {}) {
  const given = keyed ? { key } : {};
  const { path, sink } = open({ ...given, batch });
  record(sink, ['a', 'b']);
  await sink.flush?.();
  const head = readFileSync(`${path}.head`);
  record(sink, names(count));
  sink.close();
  writeFileSync(`${path}.head`, head);
  return { path, given };
}

describe('a log whose head does not know its last lines', () => {
  it.each([1, 2, 1_000])('goes on after the %i lines of a batch', async (count) => {
    for (const keyed of [false, true]) {
      const { path, given } = await withoutHead(count, { keyed });
      expect(await verifyAuditLog({ path, ...given })).toMatchObject({ ok: true });
      const sink = new JsonlAuditSink({ path, ...given });
      record(sink, ['next']);
      sink.close();
      expect(targetsOf(path)).toEqual(['a', 'b', ...names(count), 'next']);
      expect(await verifyAuditLog({ path, ...given })).toMatchObject({ ok: true });
    }
  });

  it('goes on after the lines of a file that was begun after the head', async () => {
    const options = { key, maxBytes: THREE_LINES };
    const { path, sink } = open(options);
    record(sink, ['a', 'b', 'c']);
    await sink.flush?.();
    const head = readFileSync(`${path}.head`);
    record(sink, ['d', 'e']);
    sink.close();
    writeFileSync(`${path}.head`, head);
    expect([targetsOf(`${path}.1`), targetsOf(path)]).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    const next = new JsonlAuditSink({ path, ...options });
    record(next, ['f']);
    next.close();
    expect(targetsOf(path)).toEqual(['d', 'e', 'f']);
    expect(await verifyAuditLog({ path, key })).toMatchObject({ ok: true, events: 6 });
  });

  const changed = (path: string, from: string, to: string) => {
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };

  it.each<[string, number, (path: string) => void]>([
    ['more lines than a batch has', 1_001, () => {}],
    ['its first line edited', 5, (path) => changed(path, '"t0"', '"x0"')],
    ['a line in the middle edited', 5, (path) => changed(path, '"t2"', '"x2"')],
    ['its last line edited', 5, (path) => changed(path, '"t4"', '"x4"')],
    ['a line removed', 5, (path) => changed(path, `${linesOf(path)[4]}\n`, '')],
    ['a line of no sink', 5, (path) => changed(path, `${linesOf(path)[4]}`, 'hello')],
  ])('is refused with %s', async (_, count, tamper) => {
    for (const keyed of [false, true]) {
      const { path, given } = await withoutHead(count, { keyed });
      tamper(path);
      const size = statSync(path).size;
      expect(() => new JsonlAuditSink({ path, ...given })).toThrow(/can not be continued/);
      expect(statSync(path).size).toBe(size);
      expect(await verifyAuditLog({ path, ...given })).toMatchObject({ ok: false });
    }
  });

  it('is refused with two lines that were written one by one', async () => {
    const { path, given } = await withoutHead(2, { keyed: true, batch: false });
    expect(() => new JsonlAuditSink({ path, ...given })).toThrow(/can not be continued/);
    expect(await verifyAuditLog({ path, ...given })).toMatchObject({ ok: false });
  });

  it('may have no more of them because somebody without the key says so', async () => {
    const { path, given } = await withoutHead(3, { keyed: true, batch: false });
    const head = JSON.parse(readFileSync(`${path}.head`, 'utf8'));
    writeFileSync(`${path}.head`, JSON.stringify({ ...head, ahead: 10 }).padEnd(256));
    expect(() => new JsonlAuditSink({ path, ...given })).toThrow(/can not be continued/);
    expect(await verifyAuditLog({ path, ...given })).toMatchObject({ ok: false });
  });
});

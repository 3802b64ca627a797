import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleScript } from '@ethosagent/test-support';
import { afterAll, describe, expect, it } from 'vitest';
import { chainedLine, chainHash } from './chain.js';
import { auditEvent } from './fixtures/audit-event.js';
import { JsonlAuditSink } from './jsonl-audit-sink.js';
import { verifyAuditLog } from './verify-audit-log.js';

const root = mkdtempSync(join(tmpdir(), 'jsonl-audit-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let files = 0;
// The first line of a file also contains the previous hash.
const THREE_LINES = 1_000;
const newPath = () => join(root, `${++files}`, 'deep', 'audit.jsonl');

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
    sink.record(auditEvent('a'));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      ...auditEvent('a'),
      seq: 1,
      prev: expect.stringMatching(/^[0-9a-f]{64}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    sink.record(auditEvent('b'));
    expect(targets(path)).toEqual(['a', 'b']);
    sink.close();
  });

  it.each([['line\nbreak'], ['\u2028'], ['"quotes"'], ['\ud800'], ['\0'], ['ü😀']])(
    'keeps %j on one line that parses',
    (target) => {
      const path = newPath();
      const sink = new JsonlAuditSink({ path });
      sink.record(auditEvent(target));
      sink.record(auditEvent('next'));
      sink.close();
      expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
      expect(targets(path)).toEqual([target, 'next']);
    },
  );

  it('writes an event as it was when it was recorded, whatever its caller does to it later', async () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, durations: true });
    const event = auditEvent('before');
    sink.record(event);
    event.target = 'after';
    sink.completed(event, 1);
    event.decision = 'denied';
    sink.record(auditEvent('next'));
    sink.close();
    expect(targets(path)).toEqual(['before', undefined, 'next']);
    expect(readFileSync(path, 'utf8')).not.toMatch(/after|denied/);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 3 });
  });

  it('keeps its chain where an event records another one while it becomes JSON', async () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path });
    const nested = {
      ...auditEvent('outer'),
      toJSON() {
        sink.record(auditEvent('inner'));
        return auditEvent('outer');
      },
    };
    sink.record(nested);
    sink.record(auditEvent('next'));
    sink.close();
    expect(targets(path)).toEqual(['inner', 'outer', 'next']);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 3, problems: [] });
  });

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
      sink.record(auditEvent(target));
      sink.close();
    }
    expect(targets(path)).toEqual(['a', 'b']);
  });

  it('rotates before a line that would pass maxBytes, and keeps maxFiles', async () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: THREE_LINES, maxFiles: 2 });
    const names = Array.from({ length: 14 }, (_, index) => String(index).padStart(2, '0'));
    for (const name of names) sink.record(auditEvent(name));
    sink.close();
    expect(targets(path)).toEqual(['12', '13']);
    expect(targets(`${path}.1`)).toEqual(['09', '10', '11']);
    expect(targets(`${path}.2`)).toEqual(['06', '07', '08']);
    expect(existsSync(`${path}.3`)).toBe(false);
    expect((statSync(`${path}.1`).mode & 0o777).toString(8)).toBe('600');
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 8, problems: [] });
  });

  it('counts what was there towards maxBytes', () => {
    const path = newPath();
    for (const target of ['a', 'b', 'c', 'd']) {
      const sink = new JsonlAuditSink({ path, maxBytes: THREE_LINES });
      sink.record(auditEvent(target));
      sink.close();
    }
    expect([targets(path), targets(`${path}.1`)]).toEqual([['d'], ['a', 'b', 'c']]);
  });

  it.each([[1], [2], [4]])('keeps the chain when maxFiles goes from 3 to %i', async (maxFiles) => {
    const path = newPath();
    for (const options of [{ maxFiles: 3 }, { maxFiles }]) {
      const sink = new JsonlAuditSink({ path, maxBytes: 1, ...options });
      for (let index = 0; index < 6; index++) sink.record(auditEvent(`${index}`));
      sink.close();
    }
    const report = await verifyAuditLog({ path });
    expect(report).toMatchObject({ ok: true, events: maxFiles + 1, problems: [] });
    expect(existsSync(`${path}.${maxFiles + 1}`)).toBe(false);
  });

  it('writes a line that is larger than maxBytes whole', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: 10 });
    sink.record(auditEvent('x'.repeat(1000)));
    sink.close();
    expect(targets(path)).toEqual(['x'.repeat(1000)]);
  });

  it('refuses while it can not rotate, and goes on when it can', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: 1, maxFiles: 1 });
    sink.record(auditEvent('a'));
    mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
    expect(() => sink.record(auditEvent('b'))).toThrow();
    expect(targets(path)).toEqual(['a']);
    rmSync(`${path}.1`, { recursive: true });
    sink.record(auditEvent('c'));
    expect([targets(`${path}.1`), targets(path)]).toEqual([['a'], ['c']]);
    sink.close();
  });

  it.each(
    (['maxFiles', 'maxBytes'] as const).flatMap((name) =>
      [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY].map((value) => [name, value] as const),
    ),
  )('refuses %s of %d before anything is opened', (name, value) => {
    const path = newPath();
    expect(() => new JsonlAuditSink({ path, [name]: value })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `CONFIG_INVALID: ${name} is ${value}; give a whole number above zero`,
      }),
    );
    expect(existsSync(dirname(path))).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'refuses an event that does not fit, leaves no part of it, and goes on when there is room',
    async () => {
      const path = newPath();
      const script = new URL('./fixtures/record-beyond-limit.ts', import.meta.url);
      const node = [process.execPath, await bundleScript(script), path];
      const said = execFileSync('prlimit', ['--fsize=2000:unlimited', ...node], {
        encoding: 'utf8',
      });
      const { recorded, refused, isWhole } = JSON.parse(said);
      expect(refused).toMatch(/EFBIG/);
      expect(isWhole).toBe(true);
      expect(recorded.length).toBeGreaterThan(1);
      expect(targets(path)).toEqual([...recorded, 'after']);
      expect(await verifyAuditLog({ path })).toMatchObject({ ok: true });
    },
  );

  it('gives each log an id of its own, and keeps it', () => {
    const idOf = (path: string) => JSON.parse(readFileSync(`${path}.head`, 'utf8')).id;
    const [a, b] = [newPath(), newPath()];
    for (const path of [a, b]) new JsonlAuditSink({ path }).close();
    const id = idOf(a);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(idOf(b)).not.toBe(id);
    for (const target of ['a', 'b']) {
      const sink = new JsonlAuditSink({ path: a });
      sink.record(auditEvent(target));
      sink.close();
      expect(idOf(a)).toBe(id);
    }
  });

  it('stays with its file when the process goes to another folder', async () => {
    const path = newPath();
    mkdirSync(dirname(path), { recursive: true });
    const before = process.cwd();
    try {
      process.chdir(dirname(path));
      const sink = new JsonlAuditSink({ path: 'audit.jsonl', maxBytes: THREE_LINES });
      process.chdir(root);
      for (const target of ['a', 'b', 'c', 'd']) sink.record(auditEvent(target));
      sink.close();
    } finally {
      process.chdir(before);
    }
    expect([targets(`${path}.1`), targets(path)]).toEqual([['a', 'b', 'c'], ['d']]);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 4 });
  });

  it('throws when it is closed, so that the access is refused', () => {
    const sink = new JsonlAuditSink({ path: newPath() });
    sink.close();
    sink.close();
    expect(() => sink.record(auditEvent('a'))).toThrow('closed');
  });
});

describe('JsonlAuditSink on a log that is there', () => {
  function writtenLog(options: { key?: string; maxBytes?: number } = {}): string {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, ...options });
    for (const target of ['a', 'b']) sink.record(auditEvent(target));
    sink.close();
    return path;
  }

  async function goesOn(path: string, options: { key?: string } = {}): Promise<string[]> {
    const sink = new JsonlAuditSink({ path, ...options });
    sink.record(auditEvent('next'));
    sink.close();
    expect(await verifyAuditLog({ path, ...options })).toMatchObject({ ok: true });
    return targets(path);
  }

  /** What a process leaves that was killed after a line and before the head. */
  function withoutLastHead(path: string): void {
    const head = readFileSync(`${path}.head`);
    const sink = new JsonlAuditSink({ path });
    sink.record(auditEvent('c'));
    sink.close();
    writeFileSync(`${path}.head`, head);
  }

  it.each<[string, (path: string) => void, string[]]>([
    ['as it was closed', () => {}, ['a', 'b', 'next']],
    ['with a torn line', (path) => appendFileSync(path, '{"time":"2026'), ['a', 'b', 'next']],
    [
      'with zeros at its end',
      (path) => appendFileSync(path, Buffer.alloc(9_000)),
      ['a', 'b', 'next'],
    ],
    [
      'with a torn line of 300 KB',
      (path) => appendFileSync(path, 'x'.repeat(300_000)),
      ['a', 'b', 'next'],
    ],
    ['with a line that its head does not know', withoutLastHead, ['a', 'b', 'c', 'next']],
    [
      'with a line that its head does not know, and a torn one',
      (path) => {
        withoutLastHead(path);
        appendFileSync(path, '{');
      },
      ['a', 'b', 'c', 'next'],
    ],
    ['that was being rotated', (path) => renameSync(path, `${path}.1`), ['next']],
    [
      'that was being rotated, and has its new file',
      (path) => {
        renameSync(path, `${path}.3`);
        writeFileSync(path, '');
      },
      ['next'],
    ],
  ])('goes on with a log %s', async (_, leave, expected) => {
    const path = writtenLog();
    leave(path);
    expect(await goesOn(path)).toEqual(expected);
  });

  it('goes on where only the folder and an empty head were made', async () => {
    const path = newPath();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.head`, '');
    expect(await goesOn(path)).toEqual(['next']);
  });

  it('cuts a torn line off when it is opened', () => {
    const path = writtenLog();
    const before = readFileSync(path);
    appendFileSync(path, '{"time"');
    new JsonlAuditSink({ path }).close();
    expect(readFileSync(path)).toEqual(before);
  });

  const lastLine = (path: string) => readFileSync(path, 'utf8').split('\n').at(-2) ?? '';
  const without = (path: string, text: string, other = '') =>
    writeFileSync(path, readFileSync(path, 'utf8').replace(text, other));

  it.each<[string, (path: string) => void]>([
    ['its last line edited', (path) => without(path, '"target":"b"', '"target":"x"')],
    [
      'another last line, with the hash that fits',
      (path) => {
        const [first = ''] = readFileSync(path, 'utf8').split('\n');
        const line = chainedLine(
          JSON.stringify(auditEvent('x')),
          { seq: 1, hash: JSON.parse(first).hash },
          { isFirst: false, hashOf: chainHash(undefined) },
        );
        without(path, `${lastLine(path)}\n`, line.bytes.toString());
      },
    ],
    ['its last line removed', (path) => without(path, `${lastLine(path)}\n`)],
    ['its last line cut', (path) => writeFileSync(path, readFileSync(path).subarray(0, -9))],
    ['its last line doubled', (path) => appendFileSync(path, `${lastLine(path)}\n`)],
    ['text at its end', (path) => appendFileSync(path, 'hello\n')],
    [
      'an event without a hash at its end',
      (path) => appendFileSync(path, `${JSON.stringify(auditEvent('x'))}\n`),
    ],
    ['an empty line at its end', (path) => appendFileSync(path, '\n')],
    [
      'two lines that its head does not know',
      (path) => {
        const head = readFileSync(`${path}.head`);
        withoutLastHead(path);
        writeFileSync(`${path}.head`, head);
        const sink = new JsonlAuditSink({ path });
        sink.record(auditEvent('d'));
        sink.close();
        writeFileSync(`${path}.head`, head);
      },
    ],
    ['nothing in it', (path) => writeFileSync(path, '')],
    ['nothing but its head left', (path) => rmSync(path)],
    ['its head removed', (path) => rmSync(`${path}.head`)],
    ['its head edited', (path) => without(`${path}.head`, '"seq":2', '"seq":7')],
    ['garbage for a head', (path) => writeFileSync(`${path}.head`, 'hello')],
    [
      'the lines of no sink',
      (path) => {
        rmSync(`${path}.head`);
        writeFileSync(path, `${JSON.stringify(auditEvent('x'))}\n`);
      },
    ],
  ])('refuses a log with %s, and leaves it as it is', (_, tamper) => {
    const path = writtenLog();
    tamper(path);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    expect(() => new JsonlAuditSink({ path })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(path) }),
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(dirname(path)).filter((name) => name.includes('lock'))).toEqual([]);
  });

  const key = 'a key of 16 bytes or more';
  it('goes on with a key', async () => {
    expect(await goesOn(writtenLog({ key }), { key })).toEqual(['a', 'b', 'next']);
  });

  it.each<[string, { key?: string }, { key?: string }]>([
    ['another key', { key }, { key: `another ${key}` }],
    ['a key', {}, { key }],
    ['no key', { key }, {}],
  ])('refuses to go on with %s', (_, written, given) => {
    const path = writtenLog(written);
    expect(() => new JsonlAuditSink({ path, ...given })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.not.stringContaining(key),
      }),
    );
  });
});

describe('JsonlAuditSink whose log is touched while it is open', () => {
  it.each<[string, (path: string) => void]>([
    ['removed', (path) => rmSync(path)],
    ['emptied', (path) => writeFileSync(path, '')],
    ['written to', (path) => appendFileSync(path, 'x\n')],
    [
      'replaced by a copy',
      (path) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
    ['moved away', (path) => renameSync(path, `${path}.old`)],
    [
      'moved away, with a copy in its place',
      (path) => {
        renameSync(path, `${path}.old`);
        copyFileSync(`${path}.old`, path);
      },
    ],
  ])('refuses when it was %s', (_, touch) => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path });
    sink.record(auditEvent('a'));
    touch(path);
    for (const target of ['b', 'c']) {
      expect(() => sink.record(auditEvent(target))).toThrow(
        expect.objectContaining({
          code: 'STORAGE_FAILED',
          message: expect.stringContaining('"ethosagent audit verify"'),
        }),
      );
    }
    sink.close();
  });

  it('does not rotate a file that was moved away, whatever has its name now', () => {
    const path = newPath();
    const sink = new JsonlAuditSink({ path, maxBytes: THREE_LINES });
    for (const target of ['a', 'b', 'c']) sink.record(auditEvent(target));
    renameSync(path, `${path}.old`);
    for (const other of [undefined, 'of another']) {
      if (other !== undefined) writeFileSync(path, other);
      expect(() => sink.record(auditEvent('d'))).toThrow(
        expect.objectContaining({ code: 'STORAGE_FAILED' }),
      );
    }
    expect(readFileSync(path, 'utf8')).toBe('of another');
    expect(targets(`${path}.old`)).toEqual(['a', 'b', 'c']);
    sink.close();
  });
});

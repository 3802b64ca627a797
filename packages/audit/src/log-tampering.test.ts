import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { inCheck } from '@ethosagent/test-support';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { chainedLine, chainHash } from './chain.js';
import { auditEvent } from './fixtures/audit-event.js';
import { JsonlAuditSink } from './jsonl-audit-sink.js';
import { verifyAuditLog } from './verify-audit-log.js';

const root = mkdtempSync(join(tmpdir(), 'tampering-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let logs = 0;

const EVENTS = 10;
const FILE_BYTES = 1_000;
const key = randomBytes(32);

/** A log of ten events: 3, 3 and 3 in rotated files, and 1 in the newest. */
function writtenLog(options: { key?: string | Uint8Array; batch?: boolean } = {}): string {
  const path = join(root, `${++logs}`, 'audit.jsonl');
  const sink = new JsonlAuditSink({ path, maxBytes: FILE_BYTES, ...options });
  for (let index = 1; index <= EVENTS; index++) sink.record(auditEvent(`t${index}`));
  sink.close();
  return path;
}

type Lines = string[];
const FILES = ['.3', '.2', '.1', ''];
const linesOf = (file: string): Lines =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
const put = (file: string, lines: Lines) =>
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));

/** Changes the lines of one file. */
const inFile = (suffix: string, change: (lines: Lines) => Lines) => (path: string) =>
  put(path + suffix, change(linesOf(path + suffix)));

const renamed = (line: string | undefined) => String(line).replace('"t', '"x');

const TAMPERINGS: Array<
  [name: string, tamper: (path: string) => void, problems: Array<[what: string, seq?: number]>]
> = [
  ['nothing', () => {}, []],
  [
    'the target of a line edited',
    inFile('.2', ([a, b, c]) => [`${a}`, renamed(b), `${c}`]),
    [['edited', 5]],
  ],
  [
    'the first line of all edited',
    inFile('.3', ([a, b, c]) => [renamed(a), `${b}`, `${c}`]),
    [['edited', 1]],
  ],
  [
    'the first line of a file edited',
    inFile('.2', ([a, b, c]) => [renamed(a), `${b}`, `${c}`]),
    [['edited', 4]],
  ],
  ['the last line edited', inFile('', ([a]) => [renamed(a)]), [['edited', 10]]],
  [
    'a space put into a line',
    inFile('', ([a]) => [String(a).replace(',', ', ')]),
    [['edited', 10]],
  ],
  [
    'a denied made allowed',
    inFile('.1', ([a, b, c]) => [`${a}`, String(b).replace('allowed', 'denied'), `${c}`]),
    [['edited', 8]],
  ],
  [
    'a line and its hash edited, so that it fits the one before',
    inFile('.2', ([a, b, c]) => {
      const { hash } = JSON.parse(String(a));
      const forged = chainedLine(
        JSON.stringify(auditEvent('x')),
        { seq: 4, hash },
        { isFirst: false, hashOf: chainHash(undefined) },
      );
      expect(JSON.parse(String(b)).seq).toBe(5);
      return [`${a}`, forged.bytes.toString().trimEnd(), `${c}`];
    }),
    [['edited', 6]],
  ],
  ['the first line of all removed', inFile('.3', (lines) => lines.slice(1)), [['missing', 1]]],
  ['a line in the middle removed', inFile('.2', ([a, , c]) => [`${a}`, `${c}`]), [['missing', 5]]],
  ['the first line of a file removed', inFile('.2', (lines) => lines.slice(1)), [['missing', 4]]],
  [
    'the last line of a file removed',
    inFile('.2', (lines) => lines.slice(0, -1)),
    [['missing', 6]],
  ],
  ['the last line of all removed', inFile('', () => []), [['cut-off', 10]]],
  [
    'the last line cut in its middle',
    inFile('', ([a]) => [String(a).slice(0, 50)]),
    [['malformed'], ['cut-off', 10]],
  ],
  [
    'the end cut off without a line break',
    (path) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20)),
    [['malformed'], ['cut-off', 10]],
  ],
  [
    'an event put at the end without a line break',
    (path) => appendFileSync(path, JSON.stringify(auditEvent('x'))),
    [['malformed']],
  ],
  [
    'half an event put at the end without a line break',
    (path) => appendFileSync(path, '{"time":"2026'),
    [['malformed']],
  ],
  ['the newest file removed', (path) => rmSync(path), [['cut-off', 10]]],
  ['a rotated file in the middle removed', (path) => rmSync(`${path}.2`), [['missing', 4]]],
  ['the oldest file removed', (path) => rmSync(`${path}.3`), [['missing', 1]]],
  ['the youngest rotated file removed', (path) => rmSync(`${path}.1`), [['missing', 7]]],
  [
    'the two youngest files removed',
    (path) => {
      rmSync(path);
      rmSync(`${path}.1`);
    },
    [['cut-off', 7]],
  ],
  [
    'every file but the head removed',
    (path) => {
      for (const suffix of FILES) rmSync(path + suffix);
    },
    [['cut-off', 1]],
  ],
  ['every file emptied', (path) => FILES.map((suffix) => put(path + suffix, [])), [['cut-off', 1]]],
  [
    'two lines swapped',
    inFile('.2', ([a, b, c]) => [`${a}`, `${c}`, `${b}`]),
    [
      ['missing', 5],
      ['out-of-order', 5],
    ],
  ],
  [
    'two files swapped',
    (path) => {
      renameSync(`${path}.2`, `${path}.tmp`);
      renameSync(`${path}.1`, `${path}.2`);
      renameSync(`${path}.tmp`, `${path}.1`);
    },
    [
      ['missing', 4],
      ['out-of-order', 4],
      ['out-of-order', 5],
      ['out-of-order', 6],
    ],
  ],
  [
    'a line doubled',
    inFile('.1', ([a, b, c]) => [`${a}`, `${b}`, `${b}`, `${c}`]),
    [['out-of-order', 8]],
  ],
  [
    'a file doubled',
    (path) => copyFileSync(`${path}.3`, `${path}.4`),
    [
      ['out-of-order', 1],
      ['out-of-order', 2],
      ['out-of-order', 3],
    ],
  ],
  [
    'a line of text put in',
    inFile('.1', ([a, b, c]) => [`${a}`, 'hello', `${b}`, `${c}`]),
    [['malformed']],
  ],
  ['an empty line put in', inFile('.1', ([a, ...rest]) => [`${a}`, '', ...rest]), [['malformed']]],
  [
    'an event without a hash put in',
    inFile('.1', (lines) => [JSON.stringify(auditEvent('x')), ...lines]),
    [['malformed']],
  ],
  [
    'lines of another log put at the end',
    (path) => appendFileSync(path, readFileSync(`${writtenLog()}.1`)),
    [
      ['out-of-order', 7],
      ['out-of-order', 8],
      ['out-of-order', 9],
    ],
  ],
  [
    'a well-formed line put in at the end',
    (path) => {
      const { seq, hash } = JSON.parse(linesOf(path).at(-1) ?? '');
      const forged = chainedLine(
        JSON.stringify(auditEvent('x')),
        { seq, hash: `${hash.startsWith('f') ? 'e' : 'f'}${hash.slice(1)}` },
        { isFirst: false, hashOf: chainHash(undefined) },
      );
      appendFileSync(path, forged.bytes);
    },
    [['edited', 11]],
  ],
  [
    'two lines put in at the end that fit',
    (path) => {
      let last = JSON.parse(linesOf(path).at(-1) ?? '');
      for (const name of ['x', 'y']) {
        last = chainedLine(JSON.stringify(auditEvent(name)), last, {
          isFirst: false,
          hashOf: chainHash(undefined),
        });
        appendFileSync(path, last.bytes);
      }
    },
    [['head-wrong', 10]],
  ],
  [
    'a file replaced by one of another log',
    (path) => {
      const other = join(root, `${++logs}`, 'audit.jsonl');
      const sink = new JsonlAuditSink({ path: other, maxBytes: FILE_BYTES });
      for (let index = 1; index <= EVENTS; index++) sink.record(auditEvent(`o${index}`));
      sink.close();
      copyFileSync(`${other}.2`, `${path}.2`);
    },
    [
      ['edited', 4],
      ['edited', 7],
    ],
  ],
  [
    'a file replaced by one of another log with the same events',
    (path) => copyFileSync(`${writtenLog()}.2`, `${path}.2`),
    [
      ['edited', 4],
      ['edited', 7],
    ],
  ],
  [
    'the first file replaced by one of another log with the same events',
    (path) => copyFileSync(`${writtenLog()}.3`, `${path}.3`),
    [
      ['edited', 1],
      ['edited', 4],
    ],
  ],
  [
    'the id in the head edited',
    (path) => {
      const head = readFileSync(`${path}.head`, 'utf8');
      const { id } = JSON.parse(head);
      writeFileSync(`${path}.head`, head.replace(id, randomBytes(16).toString('hex')));
    },
    [['edited', 1]],
  ],
  [
    'a pipe of garbage as an older file',
    (path) => writeFileSync(`${path}.9`, randomBytes(100_000).fill(7)),
    [['malformed']],
  ],
  ['a folder as an older file', (path) => mkdirSync(`${path}.9`), [['malformed']]],
  ['the head removed', (path) => rmSync(`${path}.head`), [['head-missing']]],
  ['the head emptied', (path) => writeFileSync(`${path}.head`, ''), [['head-missing']]],
  ['the head garbage', (path) => writeFileSync(`${path}.head`, 'hello'), [['head-wrong']]],
  [
    'the hash in the head edited',
    (path) => {
      const head = readFileSync(`${path}.head`, 'utf8');
      writeFileSync(
        `${path}.head`,
        head.replace(
          /"hash":"./,
          (found) => `${found.slice(0, -1)}${found.endsWith('a') ? 'b' : 'a'}`,
        ),
      );
    },
    [['head-wrong', 10]],
  ],
];

describe.each([
  ['without a key', {}, {}],
  ['with a key', { key }, {}],
  ['with a key and batches', { key }, { batch: true }],
])('verifyAuditLog %s', (_, options, written) => {
  it.each(TAMPERINGS)('finds %s', async (_name, tamper, problems) => {
    const path = writtenLog({ ...options, ...written });
    tamper(path);
    const report = await verifyAuditLog({ path, ...options });
    const found = report.problems.map(({ what, seq }) => [what, seq]);
    // Lines that were forged without the key don't fit the chain.
    const isForged = problems.some(([what]) => what === 'edited' || what === 'head-wrong');
    if (isForged && 'key' in options) return expect(report.ok).toBe(false);
    expect(found).toEqual(problems.map(([what, seq]) => [what, seq]));
    expect(report.ok).toBe(problems.length === 0);
  });
});

describe('verifyAuditLog', () => {
  const template = writtenLog();
  const original = new Map(FILES.map((suffix) => [suffix, readFileSync(template + suffix)]));
  let copies = 0;
  fuzz(
    'finds any bytes that are changed, put in or taken out',
    fc.record({
      suffix: fc.constantFrom(...FILES),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      taken: fc.nat(400),
      put: fc.oneof(
        fc.uint8Array({ maxLength: 10 }),
        fc.constantFrom('\n', '{}\n', ' ', '}').map((text) => Buffer.from(text)),
      ),
    }),
    async ({ suffix, at, taken, put }) => {
      const bytes = original.get(suffix) ?? Buffer.alloc(0);
      const start = Math.round(at * bytes.length);
      const changed = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + taken)]);
      const folder = join(root, `fuzz-${++copies}`);
      cpSync(dirname(template), folder, { recursive: true });
      writeFileSync(join(folder, `audit.jsonl${suffix}`), changed);
      const { ok } = await verifyAuditLog({ path: join(folder, 'audit.jsonl') });
      rmSync(folder, { recursive: true });
      return ok === changed.equals(bytes);
    },
    { promised: 'audit', runs: { check: 40, long: 5_000 } },
  );

  it('checks every log of a folder, also one of which only the head is left', async () => {
    const folder = join(root, 'several');
    for (const name of ['audit.jsonl', 'audit-2.jsonl', 'audit-3.jsonl']) {
      const sink = new JsonlAuditSink({ path: join(folder, name) });
      sink.record(auditEvent(name));
      sink.close();
    }
    expect(await verifyAuditLog({ path: folder })).toMatchObject({
      ok: true,
      events: 3,
      problems: [],
    });
    const gone = join(folder, 'audit-3.jsonl');
    rmSync(gone);
    expect(await verifyAuditLog({ path: folder })).toMatchObject({
      ok: false,
      events: 2,
      problems: [{ file: gone, line: 0, seq: 1, what: 'cut-off' }],
    });
  });

  it.each<[string, { key?: Uint8Array }]>([
    ['without a key', {}],
    ['with a key', { key }],
  ])('finds that a log %s was replaced by a copy of another one', async (_, options) => {
    const folder = join(root, `${++logs}`);
    const [a, b] = [join(folder, 'audit.jsonl'), join(folder, 'audit-2.jsonl')];
    for (const path of [a, b]) {
      const sink = new JsonlAuditSink({ path, ...options });
      sink.record(auditEvent(path));
      sink.close();
    }
    for (const path of [folder, a, b]) {
      expect(await verifyAuditLog({ path, ...options })).toMatchObject({ ok: true });
    }
    for (const suffix of ['', '.head']) copyFileSync(b + suffix, a + suffix);
    const wrong = (log: string) => ({ file: `${log}.head`, line: 0, seq: 1, what: 'head-wrong' });
    for (const [path, problems] of [
      [folder, [wrong(b), wrong(a)]],
      [a, [wrong(a)]],
      [b, [wrong(b)]],
    ] as const) {
      expect((await verifyAuditLog({ path, ...options })).problems).toEqual(problems);
    }
  });

  it('passes over a pipe for the head of another log', async () => {
    const path = writtenLog();
    execFileSync('mkfifo', [join(dirname(path), 'audit-2.jsonl.head')]);
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: EVENTS });
  });

  const PADDED = `${JSON.stringify(auditEvent('x'))}${' '.repeat(17 * 1024 * 1024)}`;
  it.each<[string, string, boolean]>(
    inCheck<[string, string, boolean]>(
      [
        ['half an event', '{"time":"2026', true],
        ['zeros', '\0'.repeat(9_000), true],
        ['an event', JSON.stringify(auditEvent('x')), false],
        ['an event and 17 MiB of spaces', PADDED, false],
      ],
      ([what]) => !what.includes('MiB'),
    ),
  )('tells %s without a line break from what a sink is writing', async (_, end, isFine) => {
    const path = join(root, `${++logs}`, 'audit.jsonl');
    const sink = new JsonlAuditSink({ path });
    sink.record(auditEvent('a'));
    appendFileSync(path, end);
    const malformed = { file: path, line: 2, seq: undefined, what: 'malformed' };
    const report = (ok: boolean) => ({
      ok,
      events: 1,
      problems: ok ? [] : [malformed],
      unfinishedBytes: end.length,
    });
    expect(await verifyAuditLog({ path })).toMatchObject(report(isFine));
    sink.close();
    writeFileSync(`${path}.lock.another-boot.1.1.1.1`, 'held');
    expect(await verifyAuditLog({ path })).toMatchObject(report(false));
    new JsonlAuditSink({ path }).close();
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true, events: 1, problems: [] });
  });

  it.each(['nothing', 'several-none/audit.jsonl'])('refuses to call %s a log', async (name) => {
    await expect(verifyAuditLog({ path: join(root, name) })).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
  });

  it.each<[string, { key?: string | Uint8Array }, { key?: string | Uint8Array }, string]>([
    ['a log with a key and no key', { key }, {}, 'CONFIG_INVALID'],
    ['a key that is too short', {}, { key: 'short' }, 'CONFIG_INVALID'],
  ])('refuses %s', async (_, written, given, code) => {
    const path = writtenLog(written);
    await expect(verifyAuditLog({ path, ...given })).rejects.toMatchObject({ code });
  });

  it.each<[string, { key?: Uint8Array }]>([
    ['of another key', { key: randomBytes(32) }],
    ['of no key', {}],
  ])('finds no line of a log %s to be one of this key', async (_, written) => {
    const report = await verifyAuditLog({ path: writtenLog(written), key });
    expect(report.problems.filter(({ what }) => what === 'edited')).toHaveLength(EVENTS);
  });

  it('finds that a log with a key was cut, though the head was made to fit', async () => {
    const path = writtenLog({ key });
    const [line] = linesOf(`${path}.1`).slice(-1);
    const { seq, hash } = JSON.parse(line ?? '');
    const { id } = JSON.parse(readFileSync(`${path}.head`, 'utf8'));
    rmSync(path);
    for (const mac of ['', `,"mac":"${hash}"`]) {
      writeFileSync(
        `${path}.head`,
        `{"id":"${id}","seq":${seq},"oldest":1,"hash":"${hash}"${mac}}`,
      );
      const report = await verifyAuditLog({ path, key });
      expect(report.problems).toMatchObject([{ what: 'head-wrong' }]);
    }
  });

  it('finds that a log with a key, whose first line was dropped, was given another id', async () => {
    const path = join(root, `${++logs}`, 'audit.jsonl');
    const sink = new JsonlAuditSink({ path, maxBytes: 1, maxFiles: 1, key });
    for (const target of ['a', 'b', 'c']) sink.record(auditEvent(target));
    sink.close();
    expect(await verifyAuditLog({ path, key })).toMatchObject({
      ok: true,
      events: 2,
      problems: [],
    });
    const head = readFileSync(`${path}.head`, 'utf8');
    const { id } = JSON.parse(head);
    writeFileSync(`${path}.head`, head.replace(id, randomBytes(16).toString('hex')));
    expect((await verifyAuditLog({ path, key })).problems).toMatchObject([{ what: 'head-wrong' }]);
  });

  /** Changes by an attacker who may write the log, and knows its format. */
  const FORGERIES: Array<[name: string, forge: (path: string) => void, problems: object[]]> = [
    [
      'the beginning was removed, and the head begins later',
      (path) => {
        rmSync(`${path}.3`);
        changeHead(path, { oldest: 4 });
      },
      [{ what: 'head-wrong' }],
    ],
    [
      'the end was removed, and the head ends earlier',
      (path) => {
        const lines = linesOf(`${path}.1`).slice(0, -1);
        put(`${path}.1`, lines);
        rmSync(path);
        const { seq, hash } = JSON.parse(lines.at(-1) ?? '');
        changeHead(path, { seq, hash });
      },
      [{ what: 'head-wrong' }],
    ],
    [
      'one line was put behind the last one',
      (path) => {
        const { seq, hash } = JSON.parse(linesOf(path).at(-1) ?? '');
        const forged = JSON.stringify(auditEvent('forged'));
        const line = chainedLine(
          forged,
          { seq, hash },
          { isFirst: false, hashOf: chainHash(undefined) },
        );
        appendFileSync(path, line.bytes);
      },
      [{ what: 'edited', seq: 11 }],
    ],
  ];
  const changeHead = (path: string, change: object) => {
    const head = JSON.parse(readFileSync(`${path}.head`, 'utf8'));
    writeFileSync(`${path}.head`, JSON.stringify({ ...head, ...change }).padEnd(256));
  };

  it.each(FORGERIES)('without a key, says that it can not tell whether %s', async (_, forge) => {
    const path = writtenLog();
    forge(path);
    const { ok, cannotTell } = await verifyAuditLog({ path });
    expect(ok).toBe(true);
    expect(cannotTell).toEqual([
      expect.stringContaining('removed from the beginning'),
      expect.stringContaining('removed from the end'),
      expect.stringContaining('put in, changed or added'),
    ]);
  });

  it.each(FORGERIES)('with a key, finds that %s', async (_, forge, problems) => {
    const path = writtenLog({ key });
    expect(await verifyAuditLog({ path, key })).toMatchObject({ ok: true, cannotTell: [] });
    forge(path);
    expect((await verifyAuditLog({ path, key })).problems).toMatchObject(problems);
    expect(() => new JsonlAuditSink({ path, key, adopt: true })).toThrow(/can not be continued/);
  });

  it.each(inCheck([0, 1, 4, EVENTS], (before) => before === 1))(
    'of a log that got its key after %i lines, says from where on it holds',
    async (before) => {
      const path = join(root, `${++logs}`, 'audit.jsonl');
      const write = (from: number, to: number, options: object) => {
        const sink = new JsonlAuditSink({ path, maxBytes: FILE_BYTES, ...options });
        for (let index = from; index <= to; index++) sink.record(auditEvent(`t${index}`));
        sink.close();
      };
      write(1, before, {});
      expect(() => write(0, 0, { key })).toThrow('it was written without this key');
      write(before + 1, before + 1, { key, adopt: true });
      write(before + 2, EVENTS + 1, { key });
      const report = await verifyAuditLog({ path, key });
      expect(report).toMatchObject({ ok: true, events: EVENTS + 1 });
      expect(report.cannotTell).toEqual(
        before === 0 ? [] : [expect.stringContaining(`from line ${before + 1} on`)],
      );
      // Without the key, nobody can move that line or remove the key.
      const head = JSON.parse(readFileSync(`${path}.head`, 'utf8'));
      for (const change of [
        { from: before + 3 },
        { from: undefined, mac: undefined },
        { mac: undefined },
      ]) {
        writeFileSync(`${path}.head`, JSON.stringify({ ...head, ...change }).padEnd(256));
        expect((await verifyAuditLog({ path, key })).ok).toBe(false);
        expect(() => new JsonlAuditSink({ path, key })).toThrow(/can not be continued/);
      }
    },
  );

  it('says of a thousand problems at most', async () => {
    const path = join(root, 'many', 'audit.jsonl');
    new JsonlAuditSink({ path }).close();
    writeFileSync(path, 'x\n'.repeat(5_000));
    expect((await verifyAuditLog({ path })).problems).toHaveLength(1_000);
  });

  it('finds nothing wrong with a log that is written and rotated meanwhile', async () => {
    const path = join(root, 'live', 'audit.jsonl');
    const sink = new JsonlAuditSink({ path, maxBytes: 20_000, maxFiles: 3 });
    let isDone = false;
    const writing = (async () => {
      for (let index = 0; !isDone; index++) {
        sink.record(auditEvent(`t${index}`));
        if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 20; round++) {
      expect((await verifyAuditLog({ path })).problems).toEqual([]);
    }
    isDone = true;
    await writing;
    sink.close();
    expect(await verifyAuditLog({ path })).toMatchObject({ ok: true });
  });
});

describe('why an access was allowed', () => {
  const why = { declared: 'storage.scope = "session"', policy: ['personalities/a/config.yaml:3'] };

  /** A log that began before events contained their reason, and continues now. */
  function grownLog(): string {
    const path = join(root, `${++logs}`, 'audit.jsonl');
    for (const more of [{}, { why }]) {
      const sink = new JsonlAuditSink({ path, key });
      for (const target of ['t1', 't2']) sink.record({ ...auditEvent(target), ...more });
      sink.close();
    }
    return path;
  }

  it('is in the log, and older lines beside it are as good as before', async () => {
    const path = grownLog();
    const lines = linesOf(path).map((line) => JSON.parse(line).why);
    expect(lines).toEqual([undefined, undefined, why, why]);
    expect(await verifyAuditLog({ path, key })).toMatchObject({ ok: true, events: 4 });
  });

  it.each([
    ['changed', (line: string) => line.replace('config.yaml:3', 'config.yaml:4')],
    ['removed', (line: string) => line.replace(/,"why":\{.*?\}/, '')],
    ['put in', (line: string) => line.replace(',"seq"', `,"why":${JSON.stringify(why)},"seq"`)],
  ])('is covered by the chain when it is %s', async (what, change) => {
    const path = grownLog();
    const at = what === 'put in' ? 1 : 2;
    const lines = linesOf(path);
    const changed = change(lines[at] ?? '');
    expect(changed).not.toBe(lines[at]);
    put(path, lines.with(at, changed));
    const { ok, problems } = await verifyAuditLog({ path, key });
    expect(ok).toBe(false);
    expect(problems).toMatchObject([{ what: 'edited', seq: at + 1 }]);
  });
});

import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AuditSink, Storage } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import type { SourceNotes, Taint } from '../call-taint.js';
import { rejection } from '../testing/batch.js';
import { ScopedFsImpl } from './scoped-fs.js';

const root = mkdtempSync(join(tmpdir(), 'scoped-fs-'));
const data = join(root, 'data');
const outside = join(root, 'outside');

beforeAll(() => {
  for (const folder of [data, outside, join(data, 'deep'), join(root, 'database')])
    mkdirSync(folder);
  writeFileSync(join(data, 'file'), 'inside');
  writeFileSync(join(outside, 'secret'), 'outside');
  writeFileSync(join(root, 'database', 'file'), 'sibling');
  symlinkSync(join(outside, 'secret'), join(data, 'leaf'));
  symlinkSync(outside, join(data, 'parent'));
  symlinkSync(join(outside, 'new'), join(data, 'dangling'));
  symlinkSync(join(data, 'loop'), join(data, 'loop'));
  symlinkSync(join(data, 'file'), join(data, 'inner'));
  symlinkSync('deep/..', join(data, 'up'));
  symlinkSync(root, join(data, 'deep', 'root'));
  linkSync(join(data, 'file'), join(data, 'hard'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const over = (reach: string, deny?: string[]) =>
  new ScopedFsImpl(
    new FsStorage(),
    new Set([reach]),
    new Set([reach]),
    deny === undefined ? {} : { deny },
  );

const never = (): Promise<never> => Promise.reject(new Error('the storage was asked'));

type Operation = [name: string, run: (fs: ScopedFsImpl, path: string) => Promise<unknown>];

const READS: Operation[] = [
  ['read', (fs, path) => fs.read(path)],
  ['readBytes', (fs, path) => fs.readBytes(path)],
  ['exists', (fs, path) => fs.exists(path)],
  ['list', (fs, path) => fs.list(path)],
  ['listEntries', (fs, path) => fs.listEntries(path)],
  ['mtime', (fs, path) => fs.mtime(path)],
];
const CHANGES: Operation[] = [
  ['write', (fs, path) => fs.write(path, 'x')],
  ['mkdir', (fs, path) => fs.mkdir(path)],
  ['remove', (fs, path) => fs.remove(path)],
  ['rename from', (fs, path) => fs.rename(path, join(data, 'moved'))],
  ['rename to', (fs, path) => fs.rename(join(data, 'file'), path)],
];

const OPERATIONS = [...READS, ...CHANGES];

/** Outside, in the folder of this test. */
const OUTSIDE = [
  outside,
  join(outside, 'secret'),
  `${data}/../outside/secret`,
  `${data}base/file`,
  root,
  `${data}/parent/secret`,
  `${data}/deep/root/outside/secret`,
];
/** What is outside is the user's own. If the code is wrong, a test may read it, and never change it. */
const OF_THE_USER = ['/', '/etc/passwd', 'relative'];

/** A storage that fails when it is asked for anything. */
const untouched = { read: never, write: never, exists: never, list: never };

describe('ScopedFsImpl on disk', () => {
  it.each([
    ...READS.flatMap(([name, run]) =>
      [...OUTSIDE, ...OF_THE_USER].map((path) => [name, path, run] as const),
    ),
    ...CHANGES.flatMap(([name, run]) => OUTSIDE.map((path) => [name, path, run] as const)),
  ])('%s refuses %s', async (_name, path, run) => {
    expect(await rejection(run(over(data), path))).toMatchObject({
      code: 'PATH_NOT_REACHABLE',
      path,
      message: expect.stringMatching(/^PATH_NOT_REACHABLE: (read|write) not permitted for /),
    });
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('outside');
    expect(readFileSync(join(data, 'file'), 'utf8')).toBe('inside');
  });

  it.each([['leaf'], ['parent/secret'], ['dangling']])(
    'read and write refuse the link %s',
    async (name) => {
      const fs = over(data);
      const path = join(data, name);
      expect(await rejection(fs.read(path))).toMatchObject({ code: 'PATH_NOT_REACHABLE' });
      expect(await rejection(fs.write(path, 'x'))).toMatchObject({ code: 'PATH_NOT_REACHABLE' });
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('outside');
    },
  );

  it('a link that loops is a typed error', async () => {
    expect(await rejection(over(data).read(join(data, 'loop')))).toHaveProperty('code');
  });

  it.each([
    ['file', 'file'],
    ['a link that stays', 'inner'],
    ['a hard link that stays', 'hard'],
    ['doubled slashes', '//file'],
    ['. and .. that stay', './deep/../file'],
  ])('reads %s', async (_name, path) => {
    expect(await over(data).read(`${data}/${path}`)).toBe('inside');
  });

  it.each(['', 'a\0b', `/${'x'.repeat(5000)}`, '/a\ud800'])(
    'refuses the path %j as PATH_INVALID',
    async (path) => {
      const fs = new ScopedFsImpl(untouched, new Set(['/']), new Set(['/']));
      for (const [, run] of OPERATIONS) {
        expect(await rejection(run(fs, path))).toMatchObject({ code: 'PATH_INVALID' });
      }
    },
  );

  it.each([
    '/proc/self/environ',
    '/proc/1/environ',
    '/proc/thread-self/environ',
    '/proc/self/root/etc/hostname',
    '/sys/kernel',
    '/dev/mem',
    '/dev/fd/3',
    '/dev/zero',
    '/etc/shadow',
    join(homedir(), '.ssh/id_rsa'),
    join(homedir(), '.aws/credentials'),
    join(homedir(), '.npmrc'),
    `/tmp/..${homedir()}/.netrc`,
  ])('with reach /, the deny floor holds for %s', async (path) => {
    const fs = new ScopedFsImpl(untouched, new Set(['/']), new Set(['/']));
    for (const [, run] of OPERATIONS) {
      expect(await rejection(run(fs, path))).toMatchObject({
        code: 'PATH_NOT_REACHABLE',
        rule: 'deny floor',
      });
    }
  });

  it('a deny list of its own beats the reach', async () => {
    const fs = over(data, [join(data, 'deep')]);
    expect(await rejection(fs.list(join(data, 'deep')))).toMatchObject({ rule: 'deny floor' });
    expect(await fs.read(join(data, 'file'))).toBe('inside');
  });

  it.each([
    ['/data', '/data', true],
    ['/data', '/data/x', true],
    ['/data', '/database', false],
    ['/data/', '/data/x', true],
    ['/data/', '/data', true],
    ['/', '/anything', true],
    ['data', '/data', false],
    ['', '/data', false],
  ])('reach %j covers %s: %s', async (reach, path, covered) => {
    const storage = {
      read: async () => '',
      write: async () => {},
      exists: async () => true,
      list: async () => [],
    };
    const fs = new ScopedFsImpl(storage, new Set([reach]), new Set());
    expect(await fs.exists(path).catch(() => false)).toBe(covered);
  });

  it.each([
    ['read', '/data/in/a', true],
    ['read', '/data/out/a', false],
    ['write', '/data/out/a', true],
    ['write', '/data/in/a', false],
    ['write', '/data/out/../in/a', false],
    ['read', '/data/in/denied/a', false],
    ['read', '/data/inside', false],
    ['read', '', false],
    ['read', '/data/in/\0', false],
  ] as const)('covers(%j, %j) is %s, and asks no storage', (kind, path, covered) => {
    const fs = new ScopedFsImpl(untouched, new Set(['/data/in']), new Set(['/data/out']), {
      deny: ['/data/in/denied'],
    });
    expect(fs.covers(kind, path)).toBe(covered);
  });

  it('what a link leads to is refused where covers says that its path is in reach', async () => {
    const fs = over(data);
    expect(fs.covers('read', join(data, 'leaf'))).toBe(true);
    expect(await rejection(fs.read(join(data, 'leaf')))).toMatchObject({
      code: 'PATH_NOT_REACHABLE',
    });
  });

  it('no text leads a plain storage outside the reach', async () => {
    const asked: string[] = [];
    const exists = async (path: string) => asked.push(path) > 0;
    const storage = { read: async () => '', write: async () => {}, exists, list: async () => [] };
    const fs = new ScopedFsImpl(storage, new Set(['/data/a']), new Set());
    const segment = fc.constantFrom(
      '..',
      '.',
      '',
      'data',
      'a',
      'ab',
      'b',
      '...',
      'a ',
      '%2e%2e',
      '\\..',
      '~',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { maxLength: 8 }),
        fc.boolean(),
        async (segments, absolute) => {
          await fs.exists((absolute ? '/' : '') + segments.join('/')).catch(() => {});
          return asked.every((path) => path === '/data/a' || path.startsWith('/data/a/'));
        },
      ),
    );
  });

  it('rename needs both ends in the write set', async () => {
    const fs = new ScopedFsImpl(new FsStorage(), new Set([data]), new Set([join(data, 'deep')]));
    expect(
      await rejection(fs.rename(join(data, 'file'), join(data, 'deep', 'file'))),
    ).toMatchObject({ kind: 'write' });
    expect(await rejection(fs.rename(join(data, 'deep', 'x'), join(data, 'x')))).toMatchObject({
      kind: 'write',
    });
  });

  it.each([
    join(outside, 'secret'),
    `${data}/../outside/secret`,
    `${data}/leaf`,
    `${data}/parent/secret`,
    `${data}/dangling`,
    `${data}/deep/root/outside/secret`,
  ])('append refuses %s', async (path) => {
    expect(await rejection(over(data).append(path, 'x'))).toMatchObject({
      code: 'PATH_NOT_REACHABLE',
      kind: 'write',
    });
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('outside');
  });

  it('append adds, and needs no right to read', async () => {
    const path = join(data, 'deep', 'log');
    const fs = new ScopedFsImpl(new FsStorage(), new Set(), new Set([data]));
    await fs.append(path, 'a');
    await fs.append(path, Uint8Array.of(98, 0xff));
    expect([...readFileSync(path)]).toEqual([97, 98, 0xff]);
  });

  it('append reads and writes where the storage can not append, and keeps what is added at once', async () => {
    const bytes = new Map<string, Uint8Array>([['/data/log', Uint8Array.of(0xff)]]);
    const slowly = () => new Promise((done) => setImmediate(done));
    const storage = {
      read: async () => null,
      readBytes: async (path: string) => {
        const found = bytes.get(path) ?? null;
        await slowly();
        return found;
      },
      write: async (path: string, content: string | Uint8Array) => {
        await slowly();
        if (content.length > 150) throw new Error('full');
        bytes.set(path, Buffer.from(content));
      },
      exists: async () => true,
      list: async () => [],
    };
    const fs = new ScopedFsImpl(storage, new Set(['/data']), new Set(['/data']));
    const added = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(added.map((byte) => fs.append('/data/log', Uint8Array.of(byte))));
    expect([...(bytes.get('/data/log') ?? [])]).toEqual([0xff, ...added]);
    // An append that fails does not stop the next ones.
    const outcomes = await Promise.allSettled([
      fs.append('/data/log', 'x'.repeat(100)),
      fs.append('/data/new', 'y'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect([...(bytes.get('/data/new') ?? [])]).toEqual([121]);
    expect(await rejection(fs.append('/database/x', 'y'))).toMatchObject({ kind: 'write' });
  });

  it.each<[string, (storage: object) => object]>([
    ['with one reach', () => ({})],
    ['with a contained view of its own', (storage) => ({ contained: () => ({ ...storage }) })],
  ])(
    'append keeps what two calls add at once where the storage can not append, each %s',
    async (_what, more) => {
      const bytes = new Map<string, Uint8Array>();
      const slowly = () => new Promise((done) => setImmediate(done));
      const plain = {
        read: async () => null,
        readBytes: async (path: string) => {
          const found = bytes.get(path) ?? null;
          await slowly();
          return found;
        },
        write: async (path: string, content: string | Uint8Array) => {
          await slowly();
          bytes.set(path, Buffer.from(content));
        },
        exists: async () => true,
        list: async () => [],
      };
      const storage = { ...plain, ...more(plain) };
      const calls = [1, 2].map(
        () => new ScopedFsImpl(storage, new Set(['/data']), new Set(['/data'])),
      );
      const added = Array.from({ length: 20 }, (_, index) => index);
      await Promise.all(
        added.map((byte) => calls[byte % 2]?.append('/data/log', Uint8Array.of(byte))),
      );
      expect([...(bytes.get('/data/log') ?? [])].sort((a, b) => a - b)).toEqual(added);
    },
  );

  describe('over a view that can not be contained further, and tells nothing before a change', () => {
    const asked: string[] = [];
    const answer = async (method: string) => void asked.push(method);
    let onRead = () => {};
    const view: Storage = {
      ...untouched,
      ...{ listEntries: never, mtime: never, mkdir: never, remove: never, rename: never },
      read: async () => {
        await answer('read');
        return '';
      },
      readBytes: async () => {
        await answer('readBytes');
        onRead();
        return null;
      },
      write: () => answer('write'),
    };
    const storage = { ...untouched, contained: () => view };
    const filesOf = (audit?: AuditSink, taint?: Taint) => {
      asked.length = 0;
      const journal = { sessionId: 's', personalityId: undefined, audit, now: Date.now };
      const scope = new CallScope(journal, { toolName: 'tool', toolCallId: 'call', taint });
      const paths = new Set(['/data']);
      return { scope, fs: new ScopedFsImpl(storage, paths, paths, { scope }) };
    };

    it('append reads and writes nothing after the end of its call', async () => {
      const { scope, fs } = filesOf();
      onRead = () => scope.end();
      const appends = [fs.append('/data/log', 'a'), fs.append('/data/log', 'b')];
      const ended = { status: 'rejected', reason: { code: 'CALL_ENDED' } };
      expect(await Promise.allSettled(appends)).toMatchObject([ended, ended]);
      expect(asked).toEqual(['readBytes']);
    });

    it.each(READS.filter(([name]) => name === 'read' || name === 'readBytes'))(
      '%s notes where its path leads before and after, whether it finds something or not',
      async (name, run) => {
        const none = () => expect.fail('it has no such source');
        const sources: SourceNotes = {
          ...{
            noteUrl: none,
            noteKept: none,
            known: none,
            beforeWrite: none,
            beforeUnseenWrite: none,
          },
          noteFile: (path) => asked.push(`note ${path}`),
        };
        const taint = {
          taints: none,
          noteRead: none,
          noteCalled: none,
          hasReadStored: false,
          sources,
        };
        await run(filesOf(undefined, taint).fs, '/data/file').catch(() => {});
        expect(asked).toEqual(['note /data/file', name, 'note /data/file']);
      },
    );

    it.each(OPERATIONS.filter(([name]) => name === 'read' || name === 'write'))(
      '%s does nothing that can not be recorded',
      async (name, run) => {
        const { fs: recorded } = filesOf({ record: () => asked.push('record') });
        await run(recorded, '/data/file');
        expect(asked).toEqual(['record', name]);
        const full = () => {
          throw new Error('full');
        };
        const { fs } = filesOf({ record: full });
        expect(await rejection(run(fs, '/data/file'))).toMatchObject({ code: 'AUDIT_FAILED' });
        expect(asked).toEqual([]);
      },
    );
  });

  it('append to one path does not wait for another where the storage can not append', async () => {
    const written: string[] = [];
    const storage = {
      read: async () => null,
      readBytes: (path: string) =>
        path === '/data/stuck' ? new Promise<null>(() => {}) : Promise.resolve(null),
      write: async (path: string) => {
        written.push(path);
      },
      exists: async () => true,
      list: async () => [],
    };
    const fs = new ScopedFsImpl(storage, new Set(['/data']), new Set(['/data']));
    void fs.append('/data/stuck', 'x');
    await fs.append('/data/log', 'x');
    expect(written).toEqual(['/data/log']);
  });

  it('a storage of four methods says what it does not offer', async () => {
    const storage = {
      read: async () => '',
      write: async () => {},
      exists: async () => true,
      list: async () => [],
    };
    const fs = new ScopedFsImpl(storage, new Set(['/a']), new Set(['/a']));
    expect(await rejection(fs.mkdir('/a/b'))).toMatchObject({ code: 'STORAGE_FAILED' });
    expect(await rejection(fs.append('/a/b', 'x'))).toMatchObject({ code: 'STORAGE_FAILED' });
  });
});

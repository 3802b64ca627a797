import {
  type AuditEvent,
  EthosError,
  errorCodeOf,
  type ToolCapabilities,
  type ToolContext,
} from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CapabilityBackends } from './backends.js';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

// A backend belongs to the operator, and may fail in every way. Each row is one method of one
// backend: how a tool uses it, and the result of that use when the backend works.

const SECRET = 'hunter2-in-/srv/state';

interface Method {
  readonly capabilities: ToolCapabilities;
  /** The code of untyped failures of this backend. */
  readonly code: string;
  /** The backends, with the method replaced by `faulty`. */
  backends(faulty: (...args: never[]) => unknown): CapabilityBackends;
  use(ctx: ToolContext): Promise<unknown> | undefined;
  /** The answer of a working method, and answers that no such method may give. */
  readonly good: unknown;
  readonly bad: readonly unknown[];
}

const kv = (
  name: string,
  use: (store: NonNullable<ToolContext['kvStore']>) => Promise<unknown> | undefined,
  good: unknown,
  bad: readonly unknown[],
): [string, Method] => [
  `key-value ${name}`,
  {
    capabilities: { storage: { scope: 'session', kind: 'kv' } },
    code: 'STORE_UNAVAILABLE',
    backends: (faulty) => ({
      kvStoreFactory: (tool, scopeId) => ({
        ...createInMemoryKvStore().kvStoreFactory(tool, scopeId),
        [name]: faulty,
      }),
    }),
    use: (ctx) => ctx.kvStore && use(ctx.kvStore),
    good,
    bad,
  },
];

const storageMethods: [
  name: string,
  use: (fs: NonNullable<ToolContext['storage']>) => Promise<unknown>,
  good: unknown,
  bad: readonly unknown[],
][] = [
  ['read', (fs) => fs.read('/data/a'), 'text', [undefined, 7, {}, ['text'], Symbol('s')]],
  ['readBytes', (fs) => fs.readBytes('/data/a'), Uint8Array.of(1), ['text', 7, [1], undefined]],
  ['exists', (fs) => fs.exists('/data/a'), true, [undefined, null, 1, 'yes']],
  ['list', (fs) => fs.list('/data'), ['a'], [undefined, null, 'a', [1], [['a']], { 0: 'a' }]],
  [
    'listEntries',
    (fs) => fs.listEntries('/data'),
    [{ name: 'a', isDir: false }],
    [undefined, null, ['a'], [null], [{ name: 1, isDir: true }], [{ name: 'a' }]],
  ],
  ['mtime', (fs) => fs.mtime('/data/a'), 5, [undefined, '5', Number.NaN, new Date(5)]],
  ['write', (fs) => fs.write('/data/a', 'x'), undefined, []],
  ['append', async (fs) => fs.append?.('/data/a', 'x'), undefined, []],
  ['mkdir', (fs) => fs.mkdir('/data/a'), undefined, []],
  ['remove', (fs) => fs.remove('/data/a'), undefined, []],
  ['rename', (fs) => fs.rename('/data/a', '/data/b'), undefined, []],
];

/** A storage with one faulty method. Its contained views have the same fault. */
function storageWith(name: string, faulty: (...args: never[]) => unknown) {
  const works = Object.fromEntries(storageMethods.map(([method, , good]) => [method, () => good]));
  const storage = {
    ...works,
    contained: () => untyped(storage),
    [name]: faulty,
  };
  return untyped(storage);
}

const files = (name: string, code = 'STORAGE_FAILED') => ({
  capabilities: {
    fs_reach: { read: 'from-personality', write: 'from-personality' },
  } satisfies ToolCapabilities,
  code,
  backends: (faulty: (...args: never[]) => unknown) => ({
    storage: storageWith(name, faulty),
    personalityFsReach: { read: ['/data'], write: ['/data'] },
  }),
});

const session = {
  id: 's',
  scopeId: 'session:s',
  startedAt: 1,
  lastMessageAt: 1,
  messageCount: 1,
};
const message = { sessionId: 's', sequence: 1, role: 'user', text: 'hi', createdAt: 1 };
const memoryDocument = { sections: [{ heading: 'A', text: 'a' }], revision: '1', sizeChars: 2 };
const NO_LIST = [undefined, null, 'a', {}, [null], [7], ['a']];
const NO_DOCUMENT = [
  ...NO_LIST,
  { sections: [] },
  { ...memoryDocument, revision: 1 },
  { ...memoryDocument, sections: [{ heading: 'A' }] },
  { ...memoryDocument, sizeChars: '2' },
];

const remembered = (
  name: string,
  use: (memory: NonNullable<ToolContext['memory']>) => Promise<unknown>,
  good: unknown,
  bad: readonly unknown[],
): [string, Method] => [
  `memory ${name}`,
  {
    capabilities: { memory: { access: 'read-write' } },
    code: 'STORE_UNAVAILABLE',
    backends: (faulty) => ({ memory: untyped({ [name]: faulty }) }),
    use: (ctx) => ctx.memory && use(ctx.memory),
    good,
    bad,
  },
];

const stored = (
  name: string,
  use: (sessions: NonNullable<ToolContext['sessions']>) => Promise<unknown>,
  good: unknown,
  bad: readonly unknown[],
): [string, Method] => [
  `sessions ${name}`,
  {
    capabilities: { sessions: { access: 'read' } },
    code: 'STORE_UNAVAILABLE',
    backends: (faulty) => ({ sessions: untyped({ get: async () => null, [name]: faulty }) }),
    use: (ctx) => ctx.sessions && use(ctx.sessions),
    good,
    bad,
  },
];

const NO_TEXT = [undefined, 7, {}, ['text'], Symbol('s'), () => 'text', new String('text')];

const methods: [string, Method][] = [
  kv('get', (store) => store.get('k'), 'v', NO_TEXT),
  kv('set', (store) => store.set('k', 'v'), undefined, []),
  kv('delete', (store) => store.delete('k'), undefined, []),
  kv('list', (store) => store.list(''), ['k'], [undefined, null, 'k', [1], { length: 0 }]),
  kv('increment', (store) => store.increment?.('n'), 1, [undefined, null, '1', Number.NaN]),
  kv('compareAndSet', (store) => store.compareAndSet?.('k', null, 'v'), true, [
    undefined,
    null,
    1,
    'true',
  ]),
  ...storageMethods.flatMap(([name, use, good, bad]): [string, Method][] => [
    [`storage ${name}`, { ...files(name), use: (ctx) => use(untyped(ctx.scopedFs)), good, bad }],
    [
      `the turn's storage ${name}`,
      { ...files(name), use: (ctx) => ctx.storage && use(ctx.storage), good, bad },
    ],
  ]),
  [
    'secrets',
    {
      capabilities: { secrets: ['key'] },
      code: 'SECRET_NOT_FOUND',
      backends: (faulty) => ({ secretsBackend: untyped(faulty) }),
      use: (ctx) => ctx.secretsResolver?.get('key'),
      good: 'value-of-key',
      bad: [...NO_TEXT, null],
    },
  ],
  [
    'attachments get',
    {
      capabilities: { attachments: {} },
      code: 'STORAGE_FAILED',
      backends: (faulty) => ({ attachments: untyped({ put: faulty, get: faulty }) }),
      use: (ctx) => ctx.attachments?.read('id'),
      good: Uint8Array.of(1),
      bad: ['text', 7, [1], undefined],
    },
  ],
  remembered('read', (memory) => memory.read(), memoryDocument, NO_DOCUMENT),
  remembered(
    'change',
    (memory) => memory.change({ kind: 'add', section: 'A', text: 'a' }),
    memoryDocument,
    NO_DOCUMENT,
  ),
  remembered(
    'search',
    (memory) => memory.search('a'),
    [{ heading: 'A', snippet: 'a' }],
    [...NO_LIST, [{ heading: 'A' }]],
  ),
  remembered(
    'versions',
    (memory) => memory.versions(),
    [{ revision: '1', replacedAt: 5, sections: [] }],
    [...NO_LIST, [{ revision: '1', replacedAt: '5', sections: [] }]],
  ),
  stored(
    'search',
    (sessions) => sessions.search('a'),
    [{ message, session, snippet: '', score: 1 }],
    [
      ...NO_LIST,
      [{ message, session, snippet: '' }],
      [{ message: { ...message, sessionId: 'x' }, session, snippet: '', score: 1 }],
      [{ message: { ...message, role: 'toString' }, session, snippet: '', score: 1 }],
    ],
  ),
  stored('list', (sessions) => sessions.list(), [session], [...NO_LIST, [{ id: 's' }]]),
  stored(
    'messages',
    (sessions) => sessions.messages('s'),
    [message],
    [...NO_LIST, [{ ...message, sequence: '1' }]],
  ),
];

const rejections: unknown[] = [];
const collect = (reason: unknown) => rejections.push(reason);
beforeAll(() => {
  process.on('unhandledRejection', collect);
});
afterAll(async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', collect);
  expect(rejections).toEqual([]);
});

/** Runs a tool that uses the method once, and returns how that ended. */
function world(method: Method, faulty: (...args: never[]) => unknown, timeoutMs = 5_000) {
  const events: AuditEvent[] = [];
  const backends = {
    ...method.backends(faulty),
    audit: { record: (e: AuditEvent) => events.push(e) },
  };
  const registry = new DefaultToolRegistry(untyped(backends));
  const seen: unknown[] = [];
  registry.register(
    makeTool(
      'uses',
      async (_args, ctx) => {
        try {
          seen.push({ value: await method.use(ctx) });
        } catch (error) {
          seen.push({ error });
        }
        return ok('done');
      },
      { capabilities: method.capabilities, timeoutMs },
    ),
  );
  const run = async () => {
    const result = await registry.executeParallel(
      [{ toolCallId: 'c', name: 'uses', args: {} }],
      {
        sessionId: 's',
        sessionKey: 's',
        platform: 'test',
        workingDir: '/',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit: () => {},
        ...(method.capabilities.fs_reach !== undefined && {
          storage: untyped(method.backends(faulty).storage),
        }),
      },
      undefined,
      undefined,
      [{ id: 'id', name: 'a', mediaType: 'text/plain', sizeBytes: 1 }],
    );
    return result[0]?.result;
  };
  return { run, seen, events };
}

function errorOf(seen: unknown): Error {
  const error: unknown = untyped(seen)?.error;
  if (!(error instanceof Error)) throw new Error(`no error: ${String(untyped(seen)?.value)}`);
  return error;
}

const isSecretsFault = (method: Method) => method.code === 'SECRET_NOT_FOUND';

describe.each(methods)('%s', (_name, method) => {
  it('works, and hands on nothing but its answer', async () => {
    const answer = method.bad.length === 0 ? { internal: 'handle' } : method.good;
    const { run, seen, events } = world(method, async () => answer);
    expect(await run()).toEqual(ok('done'));
    expect(seen).toEqual([{ value: method.good }]);
    expect(events).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['rejects', () => Promise.reject(new Error(SECRET))],
    ['rejects with a text', () => Promise.reject(SECRET)],
    ['rejects with nothing', () => Promise.reject()],
    [
      'throws what can not be printed',
      () => {
        throw {
          get message() {
            throw new Error(SECRET);
          },
          toString() {
            throw new Error(SECRET);
          },
        };
      },
    ],
    [
      'gives a promise whose then throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: what is tested
        get then() {
          throw new Error(SECRET);
        },
      }),
    ],
  ])('that %s: a typed error that says what to do, and it works again', async (_fault, fails) => {
    let isFaulty = true;
    const { run, seen, events } = world(method, () => (isFaulty ? fails() : method.good));
    expect(await run()).toEqual(ok('done'));
    const error = errorOf(seen[0]);
    const code = isSecretsFault(method) ? 'SECRETS_UNAVAILABLE' : method.code;
    expect(error.message).toMatch(new RegExp(`^${code}: .*(again|operator)`));
    expect(error.message).not.toContain('hunter2');
    isFaulty = false;
    await run();
    expect(seen[1]).toEqual({ value: method.good });
    expect(events.map(({ decision }) => decision)).toEqual(['allowed', 'allowed']);
  });

  it('that fails with a code of its own keeps it', async () => {
    const code = isSecretsFault(method) ? 'SECRET_NOT_FOUND' : 'DISK_FULL';
    const { run, seen } = world(method, () => Promise.reject(new EthosError(code, 'free some')));
    await run();
    expect(errorOf(seen[0]).message).toBe(`${code}: free some`);
  });

  const bad = method.bad.map((answer): [string, unknown] => [describeValue(answer), answer]);
  it.each(bad)('that answers %s: a typed error', async (_what, answer) => {
    const { run, seen } = world(method, async () => answer);
    expect(await run()).toEqual(ok('done'));
    expect(errorCodeOf(errorOf(seen[0]))).toBe(method.code);
    expect(errorOf(seen[0]).message).toMatch(/operator/);
  });

  it('that never answers: the call ends at its time, and the next one works', async () => {
    let isFaulty = true;
    const { run, seen } = world(method, () => (isFaulty ? new Promise(() => {}) : method.good), 30);
    expect(await run()).toEqual({
      ok: false,
      code: 'execution_failed',
      error:
        'uses took longer than 30 ms and was stopped; it may have done part of its work, so check what it did before you call it again',
      cause: 'CALL_TIMED_OUT',
    });
    isFaulty = false;
    expect(await run()).toEqual(ok('done'));
    expect(seen).toEqual([{ value: method.good }]);
  });

  it.each([
    ['answers', (settle: (answer: unknown) => void) => settle(method.good)],
    ['fails', (_: unknown, fail: (error: unknown) => void) => fail(new Error(SECRET))],
  ])('that %s when the call is over: nothing more happens', async (_what, late) => {
    let finish = () => {};
    const { run, seen, events } = world(
      method,
      () => new Promise((settle, fail) => (finish = () => late(settle, fail))),
      20,
    );
    expect(await run()).toMatchObject({ ok: false, code: 'execution_failed' });
    const before = events.length;
    finish();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toHaveLength(1);
    expect(events.length).toBeLessThanOrEqual(Math.max(before, 1));
  });
});

function describeValue(value: unknown): string {
  if (typeof value === 'symbol' || typeof value === 'function') return `a ${typeof value}`;
  return value instanceof String ? 'a String object' : (JSON.stringify(value) ?? String(value));
}

describe('kvStoreFactory', () => {
  const capabilities: ToolCapabilities = { storage: { scope: 'session', kind: 'kv' } };
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['gives nothing', () => undefined],
    ['gives a text', () => 'store'],
    ['gives an object without methods', () => ({})],
    ['gives a promise', async () => createInMemoryKvStore().kvStoreFactory('t', 's')],
  ])('that %s: the call fails with a typed error, and the next works', async (_fault, fails) => {
    let isFaulty = true;
    const store = createInMemoryKvStore();
    const registry = new DefaultToolRegistry({
      kvStoreFactory: (tool, id) => (isFaulty ? untyped(fails()) : store.kvStoreFactory(tool, id)),
    });
    registry.register(
      makeTool('sets', async (_args, ctx) => ok(String(await ctx.kvStore?.set('k', 'v'))), {
        capabilities,
      }),
    );
    const result = await runOne(registry, 'sets');
    expect(result).toMatchObject({
      ok: false,
      code: 'execution_failed',
      error: expect.stringMatching(/^STORE_UNAVAILABLE: .*operator/),
    });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    isFaulty = false;
    expect(await runOne(registry, 'sets')).toEqual(ok('undefined'));
  });
});

describe('a storage whose contained view', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['is nothing', () => undefined],
    ['is a text', () => 'view'],
  ])('%s: nothing is read, and the error is typed', async (_fault, contained) => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      return 'text';
    };
    const registry = new DefaultToolRegistry({
      storage: untyped({ read, contained }),
      personalityFsReach: { read: ['/data'], write: [] },
    });
    registry.register(
      makeTool('reads', async (_args, ctx) => ok(String(await ctx.scopedFs?.read('/data/a'))), {
        capabilities: { fs_reach: { read: 'from-personality' } },
      }),
    );
    const result = await runOne(registry, 'reads');
    expect(result).toMatchObject({ error: expect.stringMatching(/^STORAGE_FAILED: .*operator/) });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(reads).toBe(0);
  });
});

describe.each(['write', 'append'] as const)('scopedFs.%s', (method) => {
  it.each([[undefined], [null], [7], [{}], [[1, 2]], [new Map()], [new ArrayBuffer(2)]])(
    'refuses %s for content, and leaves the file',
    async (content) => {
      const written: unknown[] = [];
      const registry = new DefaultToolRegistry({
        storage: storageWith(method, (...args: unknown[]) => written.push(args)),
        personalityFsReach: { read: [], write: ['/data'] },
      });
      registry.register(
        makeTool(
          'writes',
          async (_args, ctx) => {
            await ctx.scopedFs?.[method]('/data/a', untyped(content));
            return ok('written');
          },
          { capabilities: { fs_reach: { write: 'from-personality' } } },
        ),
      );
      expect(await runOne(registry, 'writes')).toMatchObject({
        error: expect.stringMatching(/^VALUE_INVALID: /),
      });
      expect(written).toEqual([]);
    },
  );
});

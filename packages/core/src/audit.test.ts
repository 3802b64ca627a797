import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryAuditSink } from '@ethosagent/audit';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AuditEvent, AuditSink, ToolBatchContext, ToolContext } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createInMemoryKvStore } from './in-memory-kv.js';
import { batchContext, makeTool, ok } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'audit-'));
const SECRET = 'hunter2222';
let server: Server;
let origin: string;

beforeAll(async () => {
  writeFileSync(join(root, 'file'), 'content of the file');
  symlinkSync('/etc', join(root, 'link'));
  server = createServer((request, response) => {
    if (request.url?.startsWith('/to-metadata')) {
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    } else if (request.url?.startsWith('/hop')) {
      response.writeHead(302, { location: '/end' }).end();
    } else {
      response.end('fine');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

async function run(use: (ctx: ToolContext) => unknown, audit: AuditSink) {
  const store = createInMemoryKvStore();
  const registry = new DefaultToolRegistry(
    {
      audit,
      storage: new FsStorage(),
      kvStoreFactory: store.kvStoreFactory,
      secretsBackend: async () => SECRET,
      personalityFsReach: { read: [root], write: [root] },
      denyPaths: [at('denied')],
      personalityNetworkAllow: [new URL(origin).host],
    },
    undefined,
    { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) },
  );
  registry.register(
    makeTool(
      'agent',
      async (_args, ctx) => {
        await use(ctx);
        return ok('done');
      },
      {
        capabilities: {
          network: { allowedHosts: ['*'] },
          secrets: ['key'],
          storage: { scope: 'session', kind: 'kv' },
          fs_reach: { read: 'from-personality', write: 'from-personality' },
          process: { allowedBinaries: ['true', 'no-such-binary'] },
          attachments: { mediaTypes: ['text/plain'] },
        },
      },
    ),
  );
  const attachment = {
    id: 'a1',
    name: 'a.txt',
    mediaType: 'text/plain',
    sizeBytes: 1,
    bytes: new Uint8Array([1]),
  };
  const results = await registry.executeParallel(
    [{ toolCallId: 'call-7', name: 'agent', args: {} }],
    {
      sessionId: 'session-7',
      personalityId: 'auditor',
      sessionKey: 'k',
      platform: 'p',
      workingDir: root,
      currentTurn: 1,
      messageCount: 1,
      abortSignal: new AbortController().signal,
      emit: () => {},
    },
    undefined,
    undefined,
    [attachment, { ...attachment, id: 'a2', mediaType: 'image/png' }],
  );
  return { result: results[0]?.result, store };
}

const inside = `within ${root}`;
const namespace = 'namespace session:session-7';
// A JSON value that can't be converted to a text, and that a tool may pass on unchecked.
const textless = JSON.parse('{"toString":1,"valueOf":1}');

type Row = [
  name: string,
  use: (ctx: ToolContext) => Promise<unknown> | undefined,
  events: Array<
    [
      capability: string,
      operation: string,
      target: string | RegExp,
      decision: 'allowed' | 'denied',
      reason: string | RegExp,
    ]
  >,
];

const at = (path: string) => join(root, path);
const ACCESSES: Row[] = [
  ['kv get', (ctx) => ctx.kvStore?.get('k'), [['storage', 'get', 'k', 'allowed', namespace]]],
  ['kv set', (ctx) => ctx.kvStore?.set('k', 'v'), [['storage', 'set', 'k', 'allowed', namespace]]],
  [
    'kv delete',
    (ctx) => ctx.kvStore?.delete('k'),
    [['storage', 'delete', 'k', 'allowed', namespace]],
  ],
  [
    'kv list',
    (ctx) => ctx.kvStore?.list('pre'),
    [['storage', 'list', 'pre', 'allowed', namespace]],
  ],
  [
    'kv increment',
    (ctx) => ctx.kvStore?.increment?.('n'),
    [['storage', 'increment', 'n', 'allowed', namespace]],
  ],
  [
    'kv compareAndSet',
    (ctx) => ctx.kvStore?.compareAndSet?.('c', null, 'v'),
    [['storage', 'compareAndSet', 'c', 'allowed', namespace]],
  ],
  [
    'a secret',
    (ctx) => ctx.secretsResolver?.get('key'),
    [['secrets', 'get', 'key', 'allowed', 'declared as key']],
  ],
  [
    'an undeclared secret',
    (ctx) => ctx.secretsResolver?.get('other'),
    [['secrets', 'get', 'other', 'denied', 'not declared']],
  ],
  [
    'a malformed ref',
    (ctx) => ctx.secretsResolver?.get('../key'),
    [['secrets', 'get', '../key', 'denied', 'malformed ref']],
  ],
  [
    'fs read',
    (ctx) => ctx.scopedFs?.read(at('file')),
    [['fs_reach.read', 'read', at('file'), 'allowed', inside]],
  ],
  [
    'fs read of nothing',
    (ctx) => ctx.scopedFs?.read(at('none')),
    [['fs_reach.read', 'read', at('none'), 'allowed', inside]],
  ],
  [
    'fs read outside',
    (ctx) => ctx.scopedFs?.read('/etc/hostname'),
    [['fs_reach.read', 'read', '/etc/hostname', 'denied', 'outside the reach']],
  ],
  [
    'fs read through a link',
    (ctx) => ctx.scopedFs?.read(at('link/hostname')),
    [['fs_reach.read', 'read', at('link/hostname'), 'denied', /./]],
  ],
  [
    'fs read of a path with NUL',
    (ctx) => ctx.scopedFs?.read('a\0b'),
    [['fs_reach.read', 'read', 'a\0b', 'denied', 'malformed path']],
  ],
  [
    'fs readBytes',
    (ctx) => ctx.scopedFs?.readBytes(at('file')),
    [['fs_reach.read', 'readBytes', at('file'), 'allowed', inside]],
  ],
  [
    'fs exists',
    (ctx) => ctx.scopedFs?.exists(at('file')),
    [['fs_reach.read', 'exists', at('file'), 'allowed', inside]],
  ],
  [
    'fs list',
    (ctx) => ctx.scopedFs?.list(root),
    [['fs_reach.read', 'list', root, 'allowed', inside]],
  ],
  [
    'fs listEntries',
    (ctx) => ctx.scopedFs?.listEntries(root),
    [['fs_reach.read', 'listEntries', root, 'allowed', inside]],
  ],
  [
    'fs mtime',
    (ctx) => ctx.scopedFs?.mtime(at('file')),
    [['fs_reach.read', 'mtime', at('file'), 'allowed', inside]],
  ],
  [
    'fs write',
    (ctx) => ctx.scopedFs?.write(at('new'), 'x'),
    [['fs_reach.write', 'write', at('new'), 'allowed', inside]],
  ],
  [
    'fs write outside',
    (ctx) => ctx.scopedFs?.write('/etc/new', 'x'),
    [['fs_reach.write', 'write', '/etc/new', 'denied', 'outside the reach']],
  ],
  [
    'fs mkdir',
    (ctx) => ctx.scopedFs?.mkdir(at('folder')),
    [['fs_reach.write', 'mkdir', at('folder'), 'allowed', inside]],
  ],
  [
    'fs rename',
    (ctx) => ctx.scopedFs?.rename(at('new'), at('newer')),
    [['fs_reach.write', 'rename', `${at('new')} -> ${at('newer')}`, 'allowed', inside]],
  ],
  [
    'fs rename out',
    (ctx) => ctx.scopedFs?.rename(at('file'), '/tmp/out'),
    [['fs_reach.write', 'rename', `${at('file')} -> /tmp/out`, 'denied', 'outside the reach']],
  ],
  [
    'fs remove',
    (ctx) => ctx.scopedFs?.remove(at('newer')),
    [['fs_reach.write', 'remove', at('newer'), 'allowed', inside]],
  ],
  [
    'a process',
    (ctx) => ctx.scopedProcess?.spawn('true', []),
    [['process', 'spawn', 'true', 'allowed', 'declared as true']],
  ],
  [
    'a process that is not installed',
    (ctx) => ctx.scopedProcess?.spawn('no-such-binary', []),
    [['process', 'spawn', 'no-such-binary', 'allowed', 'declared as no-such-binary']],
  ],
  [
    'an undeclared binary',
    (ctx) => ctx.scopedProcess?.spawn('rm', []),
    [['process', 'spawn', 'rm', 'denied', 'not declared']],
  ],
  [
    'a refused variable',
    (ctx) => ctx.scopedProcess?.spawn('true', [], { env: { LD_PRELOAD: 'x' } }),
    [['process', 'spawn', 'true', 'denied', 'environment changes what runs']],
  ],
  [
    'a cwd outside',
    (ctx) => ctx.scopedProcess?.spawn('true', [], { cwd: '/etc' }),
    [['process', 'spawn', 'true', 'denied', 'outside the reach']],
  ],
  [
    'attachments',
    (ctx) => ctx.attachments?.list(),
    [['attachments', 'list', '*', 'allowed', 'media types text/plain']],
  ],
  [
    'an attachment',
    (ctx) => ctx.attachments?.read('a1'),
    [['attachments', 'read', 'a1', 'allowed', 'media types text/plain']],
  ],
  [
    'an unknown attachment',
    (ctx) => ctx.attachments?.read('zz'),
    [['attachments', 'read', 'zz', 'denied', 'not in the turn']],
  ],
  [
    'an attachment of another type',
    (ctx) => ctx.attachments?.read('a2'),
    [['attachments', 'read', 'a2', 'denied', 'media type not declared']],
  ],
  [
    'a fetch',
    (ctx) => ctx.scopedFetch?.fetch(`${origin}/path?key=${SECRET}`),
    [
      [
        'network',
        'fetch',
        /^http:\/\/127\.0\.0\.1:\d+\/path$/,
        'allowed',
        /^matched 127\.0\.0\.1:\d+$/,
      ],
    ],
  ],
  [
    'a fetch outside',
    (ctx) => ctx.scopedFetch?.fetch('http://denied.example/x'),
    [['network', 'fetch', 'http://denied.example/x', 'denied', /./]],
  ],
  [
    'a redirect',
    (ctx) => ctx.scopedFetch?.fetch(`${origin}/hop`),
    [
      ['network', 'fetch', /\/hop$/, 'allowed', /./],
      ['network', 'fetch', /\/end$/, 'allowed', /./],
    ],
  ],
  [
    'a redirect to a metadata address',
    (ctx) => ctx.scopedFetch?.fetch(`${origin}/to-metadata`),
    [
      ['network', 'fetch', /\/to-metadata$/, 'allowed', /./],
      ['network', 'fetch', 'http://169.254.169.254/latest', 'denied', /./],
    ],
  ],
  [
    'a fetch that was aborted before',
    (ctx) => ctx.scopedFetch?.fetch(`${origin}/x?q=1`, { signal: AbortSignal.abort() }),
    [['network', 'fetch', /\/x$/, 'denied', 'over before it was judged']],
  ],
  [
    'a fetch with a malformed init',
    (ctx) => ctx.scopedFetch?.fetch(`${origin}/x`, { method: 'a b' }),
    [['network', 'fetch', /\/x$/, 'allowed', /./]],
  ],
  [
    'a fetch of content',
    (ctx) => ctx.scopedFetch?.fetch(`data:text/plain,${SECRET}`),
    [['network', 'fetch', 'data:', 'denied', 'scheme']],
  ],
  [
    'a fetch that was aborted before, of content',
    (ctx) => ctx.scopedFetch?.fetch(`data:text/plain,${SECRET}`, { signal: AbortSignal.abort() }),
    [['network', 'fetch', 'data:', 'denied', 'over before it was judged']],
  ],
  [
    'a fetch of an object',
    (ctx) => ctx.scopedFetch?.fetch(textless),
    [['network', 'fetch', '', 'denied', 'malformed URL']],
  ],
  [
    'a fetch that was aborted before, of an object',
    (ctx) => ctx.scopedFetch?.fetch(textless, { signal: AbortSignal.abort() }),
    [['network', 'fetch', 'an invalid URL', 'denied', 'over before it was judged']],
  ],
  [
    'an object as a secret',
    (ctx) => ctx.secretsResolver?.get(textless),
    [['secrets', 'get', 'an object', 'denied', 'malformed ref']],
  ],
  [
    'the handle of an undeclared secret',
    (ctx) => ctx.secretsResolver?.handle('other'),
    [['secrets', 'handle', 'other', 'denied', 'not declared']],
  ],
  [
    'fs read of an object',
    (ctx) => ctx.scopedFs?.read(textless),
    [['fs_reach.read', 'read', 'an object', 'denied', 'malformed path']],
  ],
  [
    'fs write to an object',
    (ctx) => ctx.scopedFs?.write(textless, 'x'),
    [['fs_reach.write', 'write', 'an object', 'denied', 'malformed path']],
  ],
  [
    'fs rename to an object',
    (ctx) => ctx.scopedFs?.rename(at('file'), textless),
    [['fs_reach.write', 'rename', `${at('file')} -> an object`, 'denied', 'malformed path']],
  ],
  [
    'an object as a binary',
    (ctx) => ctx.scopedProcess?.spawn(textless, []),
    [['process', 'spawn', 'an object', 'denied', 'malformed name']],
  ],
  [
    'an object as an attachment',
    (ctx) => ctx.attachments?.read(textless),
    [['attachments', 'read', 'an object', 'denied', 'not in the turn']],
  ],
  [
    'a deny path within the reach',
    (ctx) => ctx.scopedFs?.read(at('denied/x')),
    [['fs_reach.read', 'read', at('denied/x'), 'denied', 'deny floor']],
  ],
];

describe('audit', () => {
  it.each(ACCESSES)('%s is recorded exactly once a hop', async (_name, use, expected) => {
    const audit = new MemoryAuditSink();
    await run((ctx) => Promise.resolve(use(ctx)).catch(() => {}), audit);
    expect(audit.events).toEqual(
      expected.map(
        ([capability, operation, target, decision, reason]): AuditEvent => ({
          time: '2026-01-02T03:04:05.006Z',
          sessionId: 'session-7',
          personalityId: 'auditor',
          toolName: 'agent',
          toolCallId: 'call-7',
          capability: expect.stringMatching(capability),
          operation,
          target: typeof target === 'string' ? target : expect.stringMatching(target),
          decision,
          reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
          why: {
            declared: expect.stringMatching(new RegExp(`^${capability.replace(/^\W+/, '')}`)),
            policy: expect.any(Array),
          },
        }),
      ),
    );
    expect(JSON.stringify(audit.events)).not.toContain('content of the file');
  });

  it('a use after the call has ended is recorded as denied', async () => {
    const audit = new MemoryAuditSink();
    let kept: ToolContext | undefined;
    await run((ctx) => {
      kept = ctx;
    }, audit);
    const late = [
      kept?.kvStore?.get('k'),
      kept?.secretsResolver?.get('key'),
      kept?.scopedFs?.read(at('file')),
      kept?.scopedProcess?.spawn('true', []),
      kept?.scopedFetch?.fetch(`${origin}/late?q=1`),
      kept?.attachments?.list(),
    ];
    await Promise.allSettled(late);
    expect(audit.events.map(({ decision, reason }) => [decision, reason])).toEqual(
      late.map(() => ['denied', 'call ended']),
    );
    expect(audit.events.map(({ target }) => target)).toContain(`${origin}/late`);
  });

  it('no event holds a secret that the call resolved', async () => {
    const audit = new MemoryAuditSink();
    await run(async (ctx) => {
      const secret = await ctx.secretsResolver?.get('key');
      await ctx.scopedFs?.exists(at(`${secret}.txt`));
      await ctx.kvStore?.get(`cache:${secret}`);
      await ctx.scopedFetch?.fetch(`${origin}/users/${secret}?k=${secret}`);
      await ctx.scopedFs?.read(`/etc/${secret}`).catch(() => {});
    }, audit);
    expect(audit.events).toHaveLength(5);
    expect(JSON.stringify(audit.events)).not.toContain(SECRET);
    expect(audit.events[1]?.target).toBe(at('[secret:key].txt'));
  });

  it('a target of a megabyte is cut', async () => {
    const audit = new MemoryAuditSink();
    await run((ctx) => ctx.scopedFs?.read('x'.repeat(1_000_000)).catch(() => {}), audit);
    expect(audit.events[0]?.target).toBe(`${'x'.repeat(4096)}…`);
  });
});

describe('a sink that throws', () => {
  const broken: AuditSink = {
    record: () => {
      throw new Error('disk full');
    },
  };

  it.each(ACCESSES)('makes %s AUDIT_FAILED', async (_name, use) => {
    const errors: unknown[] = [];
    await run(
      (ctx) => Promise.resolve(use(ctx)).catch((error: unknown) => errors.push(error)),
      broken,
    );
    expect(errors).toEqual([expect.objectContaining({ code: 'AUDIT_FAILED' })]);
  });

  it('lets no value be stored, no secret be asked for, no process and no connection be made', async () => {
    const requests: unknown[] = [];
    const note = (request: { url?: string | undefined }) => requests.push(request.url);
    server.on('request', note);
    const witness = at('spawned');
    const { store } = await run(async (ctx) => {
      await ctx.kvStore?.set('k', 'v').catch(() => {});
      await ctx.scopedProcess?.spawn('true', [witness]).catch(() => {});
      await ctx.scopedFetch?.fetch(`${origin}/unrecorded`).catch(() => {});
    }, broken);
    server.off('request', note);
    expect(await store.kvStoreFactory('agent', 'session:session-7').get('k')).toBeNull();
    expect(requests).toEqual([]);
  });

  it('changes no file', async () => {
    writeFileSync(at('kept'), 'old');
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(Reflect.get(Object(error), 'code'));
    await run(async (ctx) => {
      await ctx.scopedFs?.write(at('kept'), 'new').catch(note);
      await ctx.scopedFs?.write(at('unmade/x'), 'new').catch(note);
      await ctx.scopedFs?.mkdir(at('unmade-folder')).catch(note);
      await ctx.scopedFs?.rename(at('kept'), at('unmoved')).catch(note);
      await ctx.scopedFs?.remove(at('kept')).catch(note);
    }, broken);
    expect(errors).toEqual(Array(5).fill('AUDIT_FAILED'));
    expect(readFileSync(at('kept'), 'utf8')).toBe('old');
    for (const name of ['unmade', 'unmade-folder', 'unmoved'])
      expect(existsSync(at(name))).toBe(false);
  });

  it.each<[string, () => unknown]>([
    ['a promise that rejects', async () => Promise.reject(new Error('too late'))],
    ['a promise that never settles', () => new Promise(() => {})],
    ['what looks like a promise', () => Object.fromEntries([['then', () => {}]])],
  ])('refuses an access whose sink answers with %s', async (_, record) => {
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    const { store } = await run(
      async (ctx) => {
        await ctx.kvStore?.set('k', 'v').catch(note);
        await ctx.scopedFs?.write(at('unwritten'), 'x').catch(note);
        await ctx.scopedFs?.read(at('file')).catch(note);
      },
      Object.assign({}, { record }),
    );
    expect(errors).toEqual(Array(3).fill(expect.objectContaining({ code: 'AUDIT_FAILED' })));
    expect(await store.kvStoreFactory('agent', 'session:session-7').get('k')).toBeNull();
    expect(existsSync(at('unwritten'))).toBe(false);
  });
});

it('is told of which call it was that was aborted before it ran', async () => {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({ audit }, undefined, { auditArguments: true });
  const call = { toolCallId: 'c', name: 'noop', args: { text: 'a' } };
  const ctx = batchContext({ abortSignal: AbortSignal.abort() });
  expect(await registry.executeParallel([call], ctx)).toMatchObject([
    { toolCallId: 'c', result: { cause: 'CALL_ABORTED' } },
  ]);
  expect(audit.calls).toMatchObject([
    { toolName: 'noop', toolCallId: 'c', args: { text: 'a' }, cause: 'CALL_ABORTED' },
  ]);
});

describe('a sink that keeps its events later', () => {
  const called = (
    flush: () => Promise<void>,
    ctx: Partial<ToolBatchContext> = {},
    name = 'noop',
  ) => {
    const recorded: string[] = [];
    const registry = new DefaultToolRegistry({
      audit: { record() {}, call: ({ outcome }) => recorded.push(outcome), flush },
    });
    registry.register(makeTool('noop', async () => ok('done')));
    const calls = [{ toolCallId: 'c', name, args: {} }];
    const answer = registry.executeParallel(calls, batchContext(ctx));
    return { recorded, answer };
  };

  it('is waited for before anybody gets the answer of a call', async () => {
    let kept = () => {};
    const { recorded, answer } = called(
      () =>
        new Promise((resolve) => {
          kept = resolve;
        }),
    );
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    await vi.waitUntil(() => recorded.length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    kept();
    expect(await answer).toMatchObject([{ result: { ok: true, value: 'done' } }]);
  });

  it('has its time also where a gate refused the call', async () => {
    // A deadline of zero would come first, however busy the machine is.
    const { answer } = called(() => new Promise((resolve) => setTimeout(resolve, 20)), {}, 'gone');
    expect(await answer).toMatchObject([{ result: { ok: false, cause: 'TOOL_NOT_FOUND' } }]);
  });

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('the server is away'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('that %s has the answer withheld', async (_, flush) => {
    const { answer } = called(flush);
    expect(await answer).toMatchObject([{ result: { ok: false, cause: 'AUDIT_FAILED' } }]);
  });

  it('that never comes back holds up no turn that is aborted', async () => {
    const gone = new AbortController();
    const { recorded, answer } = called(() => new Promise(() => {}), { abortSignal: gone.signal });
    await vi.waitUntil(() => recorded.length === 1);
    gone.abort();
    expect(await answer).toMatchObject([{ result: { ok: false, cause: 'AUDIT_FAILED' } }]);
  });
});

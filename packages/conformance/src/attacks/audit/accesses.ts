import { join } from 'node:path';
import type { AuditEvent, ToolContext } from '@ethosagent/types';
import type { AuditWorld } from './audit-world.js';

/** An event that an access must write to the log. */
export interface ExpectedEvent
  extends Pick<AuditEvent, 'capability' | 'operation' | 'target' | 'decision'> {
  /** If absent, any reason. */
  reason?: string;
}

/** One access, with its events in order: one event, or one for each hop. */
export interface Access {
  run(ctx: ToolContext): Promise<unknown> | undefined;
  events: readonly [ExpectedEvent, ...ExpectedEvent[]];
}

type Decided = [decision: AuditEvent['decision'], reason?: string];

/** Creates an access. `id` distinguishes it from others of its kind. */
export type MakeAccess = (world: AuditWorld, id: string, sessionId: string) => Access;

function access(
  run: Access['run'],
  named: Pick<AuditEvent, 'capability' | 'operation' | 'target'>,
  [decision, reason]: Decided,
): Access {
  const event = { ...named, decision };
  return { run, events: [reason === undefined ? event : { ...event, reason }] };
}

type KvOperation = 'get' | 'set' | 'delete' | 'list' | 'increment' | 'compareAndSet';

const kv =
  (operation: KvOperation, use: (ctx: ToolContext, key: string) => Promise<unknown> | undefined) =>
  (_: AuditWorld, id: string, sessionId: string) =>
    access((ctx) => use(ctx, `k-${id}`), { capability: 'storage', operation, target: `k-${id}` }, [
      'allowed',
      `namespace session:${sessionId}`,
    ]);

const secret =
  (ref: string, ...decided: Decided) =>
  (_: AuditWorld, id: string) =>
    access(
      (ctx) => ctx.secretsResolver?.get(`${ref}${id}`),
      { capability: 'secrets', operation: 'get', target: `${ref}${id}` },
      decided,
    );

type Read = 'read' | 'readBytes' | 'exists' | 'list' | 'listEntries' | 'mtime';

/** @param pathOf returns the path, and the root that covers it or the rule that denies it */
const reading =
  (
    operation: Read,
    pathOf: (world: AuditWorld, id: string) => [path: string, rule: string, isDenied?: true],
  ) =>
  (world: AuditWorld, id: string) => {
    const [path, rule, isDenied] = pathOf(world, id);
    return access(
      (ctx) => ctx.scopedFs?.[operation](path),
      { capability: 'fs_reach.read', operation, target: path },
      [isDenied ? 'denied' : 'allowed', isDenied ? rule : `within ${rule}`],
    );
  };

const changing =
  (
    operation: 'write' | 'append' | 'mkdir' | 'remove',
    pathOf: (world: AuditWorld, id: string) => [path: string, rule: string, isDenied?: true],
  ) =>
  (world: AuditWorld, id: string) => {
    const [path, rule, isDenied] = pathOf(world, id);
    const run = (ctx: ToolContext) => {
      if (operation === 'write' || operation === 'append') {
        return ctx.scopedFs?.[operation](path, 'x');
      }
      return ctx.scopedFs?.[operation](path);
    };
    return access(run, { capability: 'fs_reach.write', operation, target: path }, [
      isDenied ? 'denied' : 'allowed',
      isDenied ? rule : `within ${rule}`,
    ]);
  };

const spawning =
  (binary: string, options: { env?: Record<string, string>; cwd?: string }, ...decided: Decided) =>
  () =>
    access(
      (ctx) => ctx.scopedProcess?.spawn(binary, [], options),
      { capability: 'process', operation: 'spawn', target: binary },
      decided,
    );

const attachment =
  (id: string, ...decided: Decided) =>
  () =>
    access(
      (ctx) => ctx.attachments?.read(id),
      { capability: 'attachments', operation: 'read', target: id },
      decided,
    );

const fetching =
  (path: string, options: { isAborted?: true; headers?: true } = {}) =>
  (world: AuditWorld, id: string): Access => {
    const url = `${world.origin}${path}/${id}`;
    const allowed = { decision: 'allowed', reason: `matched ${new URL(url).host}` } as const;
    const hop = (target: string) =>
      ({ capability: 'network', operation: 'fetch', target }) as const;
    const run = (ctx: ToolContext) =>
      ctx.scopedFetch
        ?.fetch(
          `${url}?key=hidden#hidden`,
          options.isAborted ? { signal: AbortSignal.abort() } : {},
        )
        .then((response) => response.text());
    if (options.isAborted) return { run, events: [{ ...hop(url), decision: 'denied' }] };
    if (path === '/hop') {
      const target = url.replace('/hop', '/ok');
      return {
        run,
        events: [
          { ...hop(url), ...allowed },
          { ...hop(target), ...allowed },
        ],
      };
    }
    if (path !== '/away') return { run, events: [{ ...hop(url), ...allowed }] };
    const away = hop(`http://169.254.169.254/away/${id}`);
    return {
      run,
      events: [
        { ...hop(url), ...allowed },
        { ...away, decision: 'denied', reason: 'metadata service' },
      ],
    };
  };

const refusedUrl =
  (urlOf: (id: string) => string, targetOf: (id: string) => string, reason: string) =>
  (_: AuditWorld, id: string) =>
    access(
      (ctx) => ctx.scopedFetch?.fetch(urlOf(id)),
      { capability: 'network', operation: 'fetch', target: targetOf(id) },
      ['denied', reason],
    );

/** A request that is aborted after a few milliseconds, so that it has begun. */
const abortedSoon: MakeAccess = (world, id) => {
  const { events } = fetching('/hang')(world, id);
  const run = (ctx: ToolContext) =>
    ctx.scopedFetch?.fetch(`${world.origin}/hang/${id}`, { signal: AbortSignal.timeout(20) });
  return { run, events };
};

const renaming: MakeAccess = (world, id) => {
  const [from, to] = [join(world.root, `from-${id}`), join(world.root, `to-${id}`)];
  const target = `${from} -> ${to}`;
  return access(
    (ctx) => ctx.scopedFs?.rename(from, to),
    { capability: 'fs_reach.write', operation: 'rename', target },
    ['allowed', `within ${world.root}`],
  );
};

const sendingHandle: MakeAccess = (world, id) => {
  const ref = `sent/${id}`;
  const [fetched] = fetching('/ok')(world, id).events;
  return {
    run: (ctx) =>
      ctx.secretsResolver
        ?.handle(ref)
        .then((authorization) =>
          ctx.scopedFetch?.fetch(`${world.origin}/ok/${id}`, { headers: { authorization } }),
        ),
    events: [
      {
        capability: 'secrets',
        operation: 'handle',
        target: ref,
        decision: 'allowed',
        reason: 'declared as sent/*',
      },
      fetched,
      { capability: 'secrets', operation: 'send', target: ref, decision: 'allowed' },
    ],
  };
};

const inRoot =
  (name: string) =>
  (world: AuditWorld, id: string): [string, string] => [
    // The path as it is asked for, so that accesses differ in the log.
    `${world.root}/${id}/../${name}`,
    world.root,
  ];

/** Allowed, denied, failing and aborted accesses of every accessor. */
export const ACCESSES: Readonly<Record<string, MakeAccess>> = {
  'kv.get': kv('get', (ctx, key) => ctx.kvStore?.get(key)),
  'kv.set': kv('set', (ctx, key) => ctx.kvStore?.set(key, 'v')),
  'kv.set of what is no TTL': kv('set', (ctx, key) =>
    ctx.kvStore?.set(key, 'v', { ttlSeconds: -1 }),
  ),
  'kv.delete': kv('delete', (ctx, key) => ctx.kvStore?.delete(key)),
  'kv.list': kv('list', (ctx, key) => ctx.kvStore?.list(key)),
  'kv.increment': kv('increment', (ctx, key) => ctx.kvStore?.increment?.(key)),
  'kv.compareAndSet': kv('compareAndSet', (ctx, key) =>
    ctx.kvStore?.compareAndSet?.(key, 'x', 'y'),
  ),
  'a secret': secret('keys/', 'allowed', 'declared as keys/*'),
  'a secret that is missing': secret('keys/missing', 'allowed', 'declared as keys/*'),
  'a secret that is not declared': secret('other/', 'denied', 'not declared'),
  'a malformed ref': secret('keys/../', 'denied', 'malformed ref'),
  'the handle of a secret, sent': sendingHandle,
  'fs.read': reading('read', inRoot('small')),
  'fs.read of a large file': reading('read', inRoot('large')),
  'fs.readBytes of a large file': reading('readBytes', inRoot('large')),
  'fs.read of nothing': reading('read', ({ root }, id) => [`${root}/none-${id}`, root]),
  'fs.read of a folder': reading('read', inRoot('.')),
  'fs.read of another root': reading('read', ({ readOnly }, id) => [`${readOnly}/${id}`, readOnly]),
  'fs.exists': reading('exists', inRoot('small')),
  'fs.list': reading('list', inRoot('.')),
  'fs.listEntries': reading('listEntries', inRoot('.')),
  'fs.mtime': reading('mtime', inRoot('small')),
  'fs.read outside': reading('read', ({ outside }, id) => [
    `${outside}/${id}`,
    'outside the reach',
    true,
  ]),
  'fs.list through a link': reading('list', ({ root }, id) => [
    `${root}/${id}/../link`,
    'a link leaves the reach',
    true,
  ]),
  'fs.read on the deny floor': reading('read', ({ root }, id) => [
    `${root}/denied/${id}`,
    'deny floor',
    true,
  ]),
  'fs.read of no path': reading('read', (_, id) => [`${id}\0`, 'malformed path', true]),
  'fs.write': changing('write', ({ root }, id) => [`${root}/written-${id}`, root]),
  'fs.write over a folder': changing('write', inRoot('.')),
  'fs.append': changing('append', ({ root }, id) => [`${root}/appended-${id}`, root]),
  'fs.append over a folder': changing('append', inRoot('.')),
  'fs.append through a link': changing('append', ({ root }, id) => [
    `${root}/link/${id}`,
    'a link leaves the reach',
    true,
  ]),
  'fs.mkdir': changing('mkdir', ({ root }, id) => [`${root}/made-${id}`, root]),
  'fs.remove': changing('remove', ({ root }, id) => [`${root}/written-${id}`, root]),
  'fs.rename': renaming,
  'fs.write where only reading is allowed': changing('write', ({ readOnly }, id) => [
    `${readOnly}/${id}`,
    'outside the reach',
    true,
  ]),
  'fs.write through a link': changing('write', ({ root }, id) => [
    `${root}/link/${id}`,
    'a link leaves the reach',
    true,
  ]),
  'a process': spawning('true', {}, 'allowed', 'declared as true'),
  'a process that is not installed': spawning('absent', {}, 'allowed', 'declared as absent'),
  'a process that is not declared': spawning('rm', {}, 'denied', 'not declared'),
  'a process with a variable': spawning('env', { env: { LD_PRELOAD: 'x' } }, 'denied'),
  'a process outside': spawning('false', { cwd: '/' }, 'denied', 'outside the reach'),
  'an attachment': attachment('text', 'allowed', 'media types text/plain'),
  'an attachment of another type': attachment('image', 'denied', 'media type not declared'),
  'an attachment that is not there': attachment('none', 'denied', 'not in the turn'),
  'a fetch': fetching('/ok'),
  'a fetch that is redirected': fetching('/hop'),
  'a fetch that is redirected out': fetching('/away'),
  'a fetch that is aborted': abortedSoon,
  'a fetch that was aborted before': fetching('/ok', { isAborted: true }),
  'a fetch outside': refusedUrl(
    (id) => `http://denied.example/${id}?key=hidden`,
    (id) => `http://denied.example/${id}`,
    'not in the allow list',
  ),
  'a fetch of content': refusedUrl(
    (id) => `data:text/plain,${id}`,
    () => 'data:',
    'scheme',
  ),
};

import { sessionTaken } from '@ethosagent/policy';
import { InMemoryStorage } from '@ethosagent/storage-fs';
import { errorCodeOf, type ToolCapabilities, type ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, rejection, runOne, untyped } from '../testing/batch.js';
import { ALL, present, servicesOf, USES } from '../testing/open-services.js';
import { DefaultToolRegistry } from '../tool-registry.js';

const KV: ToolCapabilities = { storage: { scope: 'session', kind: 'kv' } };
const world = () =>
  servicesOf({
    secretsBackend: async () => 'hunter2-hunter2',
    storage: new InMemoryStorage(),
    personalityFsReach: { read: ['/'], write: ['/'] },
  });
const codeOf = async (promise: Promise<unknown>) => errorCodeOf(await rejection(promise));

describe('DefaultToolRegistry.openService', () => {
  it('gives what was declared, and nothing else', async () => {
    const { open } = world();
    const all = await open(ALL, { sessionId: 's', personalityId: 'p' });
    expect(Object.keys(all).sort()).toEqual([
      'denials',
      'end',
      'hosts',
      'isCurrent',
      'kvStore',
      'onEnd',
      'personalityId',
      'proxy',
      'reach',
      'redact',
      'scopedFetch',
      'scopedFs',
      'scopedProcess',
      'secretsResolver',
      'sessionId',
      'signal',
    ]);
    expect(all).toMatchObject({
      sessionId: 's',
      personalityId: 'p',
      hosts: ['127.0.0.1'],
      reach: { read: ['/'], write: ['/'] },
    });
    expect(Object.keys(await open({}, {})).sort()).toEqual([
      'denials',
      'end',
      'isCurrent',
      'onEnd',
      'redact',
      'signal',
    ]);
  });

  it('reaches the files that it declared and its personality has, and no others', async () => {
    const storage = new InMemoryStorage();
    for (const folder of ['/a/in', '/a/out', '/b']) {
      await storage.mkdir(folder);
      await storage.write(`${folder}/x`, 'x');
    }
    const personalityFsReach = { read: ['/a/in', '/b'], write: ['/a/in'] };
    const { open } = servicesOf({ storage, personalityFsReach });
    const { scopedFs } = await open({ fs_reach: { read: ['/a'], write: [] } });
    const fs = present(scopedFs);
    expect(await fs.read('/a/in/x')).toBe('x');
    for (const path of ['/a/out/x', '/b/x', '/a/in/../out/x']) {
      expect(await codeOf(fs.read(path)), path).toBe('PATH_NOT_REACHABLE');
    }
    expect(await codeOf(fs.write('/a/in/x', 'new'))).toBe('PATH_NOT_REACHABLE');
    expect(await storage.read('/a/in/x')).toBe('x');
  });

  it('keeps what was refused to it, each once and the last 20, without secrets', async () => {
    const { open } = servicesOf({
      personalityNetworkAllow: ['a.test'],
      personalityProcess: { sandbox: 'preferred' },
      secretsBackend: async () => 'hunter2-hunter2',
    });
    const service = await open({
      network: { allowedHosts: ['*'] },
      process: { allowedBinaries: ['ls'] },
      secrets: ['key'],
    });
    expect(service.sandbox).toBe('preferred');
    expect(service.denials?.()).toEqual([]);
    const { scopedFetch, scopedProcess, secretsResolver } = service;
    await secretsResolver?.get('key');
    const refused = async (path: string) =>
      codeOf(Promise.resolve(scopedFetch?.fetch(`https://b.test/${path}`)));
    expect([await refused('x'), await refused('x')]).toEqual([
      'HOST_NOT_ALLOWED',
      'HOST_NOT_ALLOWED',
    ]);
    await refused('hunter2-hunter2');
    expect(await codeOf(Promise.resolve(scopedProcess?.spawn('rm', [])))).toBe(
      'BINARY_NOT_ALLOWED',
    );
    expect(service.denials?.()).toEqual([
      {
        capability: 'network',
        target: 'https://b.test/x',
        reason: expect.stringMatching(/not in/),
      },
      { capability: 'network', target: 'https://b.test/[secret:key]', reason: expect.any(String) },
      { capability: 'process', target: 'rm', reason: expect.any(String) },
    ]);
    for (let at = 0; at < 30; at += 1) await refused(`n${at}`);
    const before = service.denials?.() ?? [];
    expect(before.map(({ target }) => target)).toEqual(
      Array.from({ length: 20 }, (_, at) => `https://b.test/n${at + 10}`),
    );
    // What is refused again is found by comparing objects.
    await refused('n10');
    const after = service.denials?.() ?? [];
    expect(after.filter((denial) => !before.includes(denial))).toEqual([before[0]]);
    expect(after).toHaveLength(20);
  });

  it.each<[string, unknown, string | RegExp]>([
    ['no object', null, 'a service is an object'],
    ['no name', { capabilities: {} }, 'a service has a name'],
    ['no capabilities', { name: 'x' }, 'declares no capabilities'],
    ['a misspelt capability', { name: 'x', capabilities: { netwrok: {} } }, 'netwrok'],
    ['memory', { name: 'x', capabilities: { memory: { access: 'read' } } }, 'not for a service'],
    ['delegation', { name: 'x', capabilities: { delegation: {} } }, 'not for a service'],
    [
      'a service in a service',
      { name: 'x', capabilities: { service: { scope: 'session' } } },
      'not for a service',
    ],
    [
      'an invalid host',
      { name: 'x', capabilities: { network: { allowedHosts: ['a/b'] } } },
      'not a host',
    ],
    [
      'a path that is not absolute',
      { name: 'x', capabilities: { fs_reach: { read: ['a'] } } },
      'not an absolute path',
    ],
  ])('refuses %s', async (_name, declaration, message) => {
    const error = await rejection(servicesOf().registry.openService(untyped(declaration), {}));
    expect(error).toMatchObject({ code: 'TOOL_INVALID', message: expect.stringMatching(message) });
  });

  it('needs backends for what reaches outside', async () => {
    const registry = new DefaultToolRegistry();
    expect(await codeOf(registry.openService({ name: 'x', capabilities: KV }, {}))).toBe(
      'CONFIG_INVALID',
    );
    await registry.openService({ name: 'x', capabilities: {} }, {});
  });

  it('records who opened what, and each access under its name and id', async () => {
    const { open, events } = world();
    const service = await open(ALL, { sessionId: 's', personalityId: 'p' });
    await service.kvStore?.set('k', 'v');
    const [opened, set] = events;
    expect(opened).toMatchObject({
      capability: 'service',
      operation: 'open',
      target: 'svc',
      toolName: 'svc',
      sessionId: 's',
      personalityId: 'p',
      decision: 'allowed',
    });
    expect(set).toMatchObject({ operation: 'set', target: 'k', toolCallId: opened?.toolCallId });
  });

  it('opens nothing that can not be recorded', async () => {
    const audit = {
      record: () => {
        throw new Error('full');
      },
    };
    const { open } = servicesOf({ audit });
    expect(await codeOf(open(KV))).toBe('AUDIT_FAILED');
  });

  it('keeps to what it declared, whatever the declaration says later', async () => {
    const { registry } = world();
    const declaration = { name: 'svc', capabilities: { secrets: ['key'] } };
    const service = await registry.openService(declaration, {});
    declaration.capabilities.secrets.push('other');
    expect(await codeOf(present(service.secretsResolver).get('other'))).toBe('SECRET_NOT_DECLARED');
    const next = await registry.openService(declaration, {});
    expect(await present(next.secretsResolver).get('other')).toBe('hunter2-hunter2');
  });
});

describe('a service of a session that another process has taken', () => {
  it.each(USES)('%s rejects, until this process holds the session again', async (_name, use) => {
    const { open, registry } = world();
    const [service, ofOther] = [await open(ALL, { sessionId: 's' }), await open(ALL)];
    // Some uses fail where they are allowed, since there is no such file or server.
    const isTaken = (of: typeof service) =>
      use(of).then(
        () => false,
        (error: unknown) => errorCodeOf(error) === 'SESSION_TAKEN',
      );
    let epoch = 1;
    let during: unknown;
    registry.register(
      makeTool('late', async () => {
        epoch = 2;
        during = await isTaken(service);
        return ok('done');
      }),
    );
    registry.register(makeTool('next'));
    const callUnder = (own: number, name: string) =>
      registry.executeParallel(
        [{ toolCallId: 'c', name, args: {} }],
        batchContext({ sessionId: 's' }),
        undefined,
        undefined,
        [],
        {
          assertOwned: () => {
            if (epoch !== own) throw sessionTaken(own);
          },
        },
      );
    await callUnder(1, 'next');
    expect(await isTaken(service)).toBe(false);
    await callUnder(1, 'late');
    expect(during).toBe(true);
    expect([await isTaken(service), await isTaken(ofOther)]).toEqual([true, false]);
    epoch = 3;
    await callUnder(3, 'next');
    expect(await isTaken(service)).toBe(false);
  });
});

describe('a service that has ended', () => {
  it.each(USES)('%s rejects, and is recorded as denied', async (_name, use) => {
    const { open, events } = world();
    const service = await open(ALL);
    await service.end();
    events.length = 0;
    expect(await codeOf(use(service))).toBe('CALL_ENDED');
    expect(events).toMatchObject([{ decision: 'denied', reason: 'service ended' }]);
  });

  it.each<[string, (registry: DefaultToolRegistry) => Promise<void>, string[]]>([
    ['end of its session', (r) => r.endSession('s1'), ['s2', 'none', 'p2']],
    ['end of all sessions', (r) => r.endAllSessions(), []],
    ['end of all services', (r) => r.endServices(), []],
    [
      'change of its personality',
      (r) => r.endServices({ personalityId: 'p2' }),
      ['s1', 's2', 'none'],
    ],
    ['change of another', (r) => r.endServices({ personalityId: 'p' }), ['s1', 's2', 'none', 'p2']],
  ])('%s', async (_name, end, left) => {
    const { open, registry } = world();
    const services = {
      s1: await open(KV, { sessionId: 's1' }),
      s2: await open(KV, { sessionId: 's2' }),
      none: await open(KV, {}),
      p2: await open(KV, { sessionId: 's3', personalityId: 'p1/p2' }),
    };
    await end(registry);
    const open_ = Object.entries(services).filter(([, { signal }]) => !signal.aborted);
    expect(open_.map(([name]) => name)).toEqual(left);
    // Each service was told why it ended.
    for (const { signal } of Object.values(services)) {
      if (signal.aborted) expect(errorCodeOf(signal.reason)).toBe('CALL_ENDED');
    }
  });

  it('runs what it was given before its accessors end, whatever the others do', async () => {
    const { open } = world();
    const service = await open(KV);
    const seen: string[] = [];
    service.onEnd(() => {
      throw new Error('one fails');
    });
    service.onEnd(async () => {
      await service.kvStore?.set('at', 'the end');
      seen.push(`${await service.kvStore?.get('at')}, aborted: ${service.signal.aborted}`);
    });
    // A closer that calls `end` again must not wait for itself.
    service.onEnd(() => void service.end());
    await Promise.all([service.end(), service.end()]);
    expect(seen).toEqual(['the end, aborted: false']);
    service.onEnd(() => void seen.push('at once'));
    expect(seen).toHaveLength(2);
  });

  it('can not be kept from it by who has it', async () => {
    const { open, registry } = servicesOf({}, { maxServices: 1 });
    const service = await open({}, { sessionId: 's1' });
    for (const [name, value] of [
      ['sessionId', 'other'],
      ['personalityId', 'other'],
      ['end', async () => {}],
      ['endBecause', async () => {}],
    ] as const) {
      expect(Reflect.set(service, name, value), name).toBe(false);
    }
    expect(await codeOf(open({}, { sessionId: 's1' }))).toBe('TOO_MANY_SERVICES');
    await registry.endSession('s1');
    expect(service.signal.aborted).toBe(true);
  });

  it('does not wait for ever', async () => {
    const { open } = servicesOf({}, { maxServiceCloseMs: 50 });
    const service = await open(KV);
    service.onEnd(() => new Promise(() => {}));
    await service.end();
    expect(service.signal.aborted).toBe(true);
  });
});

describe('the limit on services', () => {
  it('is for each session, and counts until the end', async () => {
    const { open, events } = servicesOf({}, { maxServices: 2 });
    const [first] = await Promise.all([open({}), open({})]);
    const over = rejection(open({}));
    expect(await over).toMatchObject({ code: 'TOO_MANY_SERVICES' });
    expect(events.at(-1)).toMatchObject({ decision: 'denied', reason: 'at most 2 services' });
    await open({}, { sessionId: 's2' });
    await first?.end();
    await open({});
    expect(await codeOf(open({}))).toBe('TOO_MANY_SERVICES');
  });

  it('holds when many are opened at once', async () => {
    const { open } = servicesOf();
    const opened = await Promise.allSettled(Array.from({ length: 50 }, () => open({})));
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  });

  it('is 64 for a personality without a session', async () => {
    const { open } = servicesOf();
    for (let count = 0; count < 64; count++) await open({}, { personalityId: 'p' });
    expect(await codeOf(open({}, { personalityId: 'p' }))).toBe('TOO_MANY_SERVICES');
    await open({}, { personalityId: 'q' });
  });

  it.each([0, -1, Number.NaN])('is no %s', (limit) => {
    for (const name of ['maxServices', 'maxServiceCloseMs']) {
      const registry = () => new DefaultToolRegistry({}, undefined, { [name]: limit });
      expect(registry).toThrow(name);
    }
  });
});

describe('two sessions', () => {
  it('share no store, and neither do services without one', async () => {
    const { open } = world();
    const owners = [{ sessionId: 'a' }, { sessionId: 'b' }, {}, {}];
    const services = await Promise.all(owners.map((owner) => open(KV, owner)));
    for (const [index, { kvStore }] of services.entries()) await kvStore?.set('k', String(index));
    const found = await Promise.all(services.map(({ kvStore }) => kvStore?.get('k')));
    expect(found).toEqual(['0', '1', '2', '3']);
  });

  it('a service shares none with a tool of its name', async () => {
    const { registry } = world();
    const capabilities = { storage: { scope: 'tool-private', kind: 'kv' } } as const;
    const service = await registry.openService({ name: 't', capabilities }, { sessionId: 's' });
    await service.kvStore?.set('k', 'of the service');
    registry.register(
      makeTool('t', async (_args, ctx) => ok(String(await ctx.kvStore?.get('k'))), {
        capabilities,
      }),
    );
    expect(await runOne(registry, 't')).toEqual({ ok: true, value: 'null' });
  });

  it('its store takes no turns, so that calls are not kept waiting', async () => {
    const { registry, open } = world();
    const service = await open(KV, { sessionId: 'session-1' });
    await service.kvStore?.set('k', 'v');
    registry.register(
      makeTool('t', async (_args, ctx) => ok(String(await ctx.kvStore?.get('k'))), {
        capabilities: KV,
      }),
    );
    expect(await runOne(registry, 't')).toEqual({ ok: true, value: 'v' });
    expect(await service.kvStore?.compareAndSet?.('k', 'v', 'w')).toBe(true);
  });

  it.each<[string, object, string]>([
    ['its own session', { sessionId: 'session-1' }, '[secret:key]'],
    ['another session', { sessionId: 'other' }, 'hunter2-hunter2'],
    ['none, of its personality', { personalityId: 'p' }, '[secret:key]'],
    ['none, of another personality', { personalityId: 'q' }, 'hunter2-hunter2'],
  ])('what a service of %s was told comes out of a call as %s', async (_name, owner, shown) => {
    const { registry, open, events } = world();
    const service = await open({ secrets: ['key'] }, owner);
    const key = await present(service.secretsResolver).get('key');
    expect(service.redact(`a ${key} b`)).toBe('a [secret:key] b');
    registry.register(makeTool('echo', () => ok(key)));
    expect(await runOne(registry, 'echo', {}, { personalityId: 'p' })).toMatchObject({
      value: shown,
    });
    expect(JSON.stringify(events)).not.toContain(key);
    await service.end();
    // What a call got before the end may still be returned later.
    expect(await runOne(registry, 'echo', {}, { personalityId: 'p' })).toMatchObject({
      value: shown,
    });
    await registry.endSession('session-1');
  });
});

describe('ctx.services', () => {
  const tool = (run: (ctx: ToolContext) => Promise<unknown>, capabilities = {}) =>
    makeTool('t', (_args, ctx) => run(ctx), {
      capabilities: { ...KV, service: { scope: 'session' }, ...capabilities },
    });

  it('opens with what the tool declares, for longer than the call', async () => {
    const { registry, events } = world();
    let opened: Awaited<ReturnType<NonNullable<ToolContext['services']>['open']>> | undefined;
    registry.register(
      tool(async (ctx) => {
        opened = await ctx.services?.open();
        await ctx.kvStore?.set('k', 'of the call');
        return ok('opened');
      }),
    );
    expect(await runOne(registry, 't', {}, { personalityId: 'p' })).toEqual(ok('opened'));
    expect(opened).toMatchObject({ sessionId: 'session-1', personalityId: 'p' });
    expect(await opened?.kvStore?.get('k')).toBe('of the call');
    expect(Object.keys(opened ?? {})).not.toContain('scopedProcess');
    const [asked] = events;
    expect(asked).toMatchObject({ capability: 'service', toolName: 't', toolCallId: 'call-1' });
    expect(events.at(-1)).toMatchObject({ toolName: 't', toolCallId: asked?.target });
    await registry.endSession('session-1');
    expect(await codeOf(present(opened?.kvStore?.get('k')))).toBe('CALL_ENDED');
  });

  it('is absent where it is not declared', async () => {
    const { registry } = world();
    registry.register(
      makeTool('t', async (_args, ctx) => ok(String('services' in ctx)), { capabilities: KV }),
    );
    expect(await runOne(registry, 't')).toEqual(ok('false'));
  });

  it.each([{}, { scope: 'personality' }, null, 'session'])('is not declared as %j', (service) => {
    expect(() => world().registry.register(tool(async () => ok(''), { service }))).toThrow(
      "capabilities.service is not { scope: 'session' }",
    );
  });

  it('opens nothing after its call', async () => {
    const { registry, events } = world();
    let services: ToolContext['services'];
    registry.register(
      tool(async (ctx) => {
        services = ctx.services;
        return ok('');
      }),
    );
    await runOne(registry, 't');
    expect(await codeOf(present(services).open())).toBe('CALL_ENDED');
    expect(events).toMatchObject([{ operation: 'open', decision: 'denied' }]);
  });

  it('opens nothing when the turn was aborted', async () => {
    const { registry } = world();
    const turn = new AbortController();
    let outcome: Promise<unknown> | undefined;
    registry.register(
      tool(async (ctx) => {
        await new Promise(setImmediate);
        turn.abort();
        outcome = rejection(present(ctx.services).open());
        return ok(String(errorCodeOf(await outcome)));
      }),
    );
    await runOne(registry, 't', {}, { abortSignal: turn.signal });
    expect(errorCodeOf(await outcome)).toBe('CALL_ENDED');
  });

  it('takes the secrets of the call that opened it out of texts, too', async () => {
    const { registry } = world();
    let text = '';
    registry.register(
      tool(
        async (ctx) => {
          const key = await ctx.secretsResolver?.get('key');
          const service = await ctx.services?.open();
          text = service?.redact(`key ${key}`) ?? '';
          return ok('');
        },
        { secrets: ['key'] },
      ),
    );
    await runOne(registry, 't');
    expect(text).toBe('key [secret:key]');
  });
});

describe('quotas of a service', () => {
  it('are those of its session, shared with calls; caps of a call are for calls', async () => {
    const { registry, open } = servicesOf({
      personalityQuotas: { per_call: { store_bytes: 1 }, per_session: { store_bytes: 20 } },
    });
    const service = await open(KV, { sessionId: 'session-1' });
    await service.kvStore?.set('a', '123456789');
    registry.register(
      makeTool(
        't',
        async (_args, ctx) =>
          ok(String(errorCodeOf(await rejection(present(ctx.kvStore).set('b', '1'))))),
        {
          capabilities: KV,
        },
      ),
    );
    expect(await runOne(registry, 't')).toEqual(ok('QUOTA_EXCEEDED'));
    expect(await codeOf(present(service.kvStore).set('b', '1234567890'))).toBe('QUOTA_EXCEEDED');
    await service.kvStore?.set('b', '123456789');
    const other = await open(KV, { sessionId: 'session-1' });
    expect(await codeOf(present(other.kvStore).set('c', '1'))).toBe('QUOTA_EXCEEDED');
    const without = await open(KV, {});
    await without.kvStore?.set('c', '123456789');
  });
});

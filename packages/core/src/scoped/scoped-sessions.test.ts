import { MemoryAuditSink } from '@ethosagent/audit';
import type { SessionStore, ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemorySessionStore } from '../in-memory-sessions.js';
import { batchContext, makeTool, ok, rejection, untyped } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

type Sessions = NonNullable<ToolContext['sessions']>;

const MINE = { scopeId: 'personality:coder' };

async function filled(): Promise<SessionStore> {
  const store = createInMemorySessionStore();
  for (const [id, owner, at] of [
    ['mine', MINE, 1],
    ['also-mine', MINE, 2],
    ['other-personality', { scopeId: 'personality:other' }, 3],
    ['other-user', { ...MINE, userScopeId: 'eve' }, 4],
    ['other-team', { ...MINE, teamId: 't' }, 5],
    ['global', { scopeId: 'global' }, 6],
    ['tenant', { scopeId: 'tenant-7' }, 0],
  ] as const) {
    await store.append({ ...owner, id }, [{ role: 'user', text: `word of ${id}`, createdAt: at }]);
  }
  return store;
}

async function inCall(
  use: (sessions: Sessions) => unknown,
  store: SessionStore,
  ctx: Parameters<typeof batchContext>[0] = {},
) {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({ sessions: store, audit });
  let outcome: unknown;
  registry.register(
    makeTool(
      'recalls',
      async (_args, { sessions }) => {
        if (sessions === undefined) throw new Error('no sessions');
        try {
          outcome = await use(sessions);
        } catch (error) {
          outcome = error;
        }
        return ok('done');
      },
      { capabilities: { sessions: { access: 'read' } } },
    ),
  );
  await registry.executeParallel(
    [{ toolCallId: 'c', name: 'recalls', args: {} }],
    batchContext({ personalityId: 'coder', ...ctx }),
  );
  const events = audit.events.map(
    ({ capability, operation, target, decision, reason }) =>
      `${capability} ${operation} ${target} ${decision}: ${reason}`,
  );
  return { outcome, events };
}

const found = async (sessions: Sessions, opts = {}) =>
  (await sessions.search('word', opts)).map(({ session }) => session.id);

describe('ScopedSessions', () => {
  const views: [ctx: object, ids: string[]][] = [
    [{}, ['also-mine', 'mine']],
    [{ userScopeId: 'eve' }, ['other-user']],
    [{ teamId: 't' }, ['other-team']],
    [{ userScopeId: 'eve', teamId: 't' }, []],
    [{ personalityId: 'other' }, ['other-personality']],
    [{ memoryScope: 'global' }, ['global']],
    [{ memoryScopeId: 'personality:other' }, ['other-personality']],
    [{ personalityId: '' }, []],
    // A call sees its own session under any personality, unless that belongs to somebody else.
    [{ sessionId: 'global' }, ['global', 'also-mine', 'mine']],
    [{ sessionId: 'other-personality' }, ['other-personality', 'also-mine', 'mine']],
    [{ sessionId: 'other-user' }, ['also-mine', 'mine']],
    [{ sessionId: 'other-user', userScopeId: 'bob' }, []],
    [{ sessionId: 'other-user', personalityId: '' }, []],
    [{ sessionId: 'other-team' }, ['also-mine', 'mine']],
    [{ sessionId: 'tenant' }, ['also-mine', 'mine']],
    [{ sessionId: 'mine', userScopeId: 'bob' }, ['mine']],
    [{ sessionId: 'mine' }, ['also-mine', 'mine']],
    [{ sessionId: 'mine', personalityId: '' }, ['mine']],
  ];
  it.each(views)('with %j sees %j', async (ctx, ids) => {
    const store = await filled();
    const { outcome, events } = await inCall(
      async (sessions) => [
        (await found(sessions)).sort(),
        (await sessions.list()).map(({ id }) => id),
      ],
      store,
      untyped(ctx),
    );
    expect(outcome).toEqual([[...ids].sort(), ids]);
    expect(events).toHaveLength(2);
    expect(events[0]).toMatch(/^sessions search word allowed: sessions of /);
    expect(events[1]).toMatch(/^sessions list \* allowed: sessions of /);
  });

  it.each(['other-personality', 'other-user', 'other-team', 'global'])(
    'shows nothing of %s, as of one that is not there, and records the denial',
    async (id) => {
      const store = await filled();
      const { outcome, events } = await inCall(
        async (sessions) => [
          await sessions.messages(id),
          await found(sessions, { sessionId: id }),
          await sessions.messages('nowhere'),
        ],
        store,
      );
      expect(outcome).toEqual([[], [], []]);
      expect(events).toEqual([
        `sessions messages ${id} denied: not of this owner`,
        'sessions search word denied: not of this owner',
        'sessions messages nowhere allowed: sessions of personality:coder',
      ]);
    },
  );

  it('takes no owner from a tool', async () => {
    const store = await filled();
    const { outcome } = await inCall(
      async (sessions) => [
        await found(sessions, { owner: { scopeId: 'global' } }),
        (await sessions.list(untyped({ owner: { scopeId: 'global' } }))).map(({ id }) => id),
      ],
      store,
    );
    expect(outcome).toEqual([
      ['mine', 'also-mine'],
      ['also-mine', 'mine'],
    ]);
  });

  it('holds a store that ignores the owner, or gives messages of another session', async () => {
    const store = await filled();
    const careless: SessionStore = {
      ...store,
      search: (query, { owner: _, sessionId: __, ...opts } = {}) => store.search(query, opts),
      list: ({ owner: _, ...opts } = {}) => store.list(opts),
      messages: async () => [
        ...(await store.messages('mine')),
        ...(await store.messages('other-user')),
      ],
    };
    const { outcome } = await inCall(
      async (sessions) => [
        await found(sessions),
        await found(sessions, { sessionId: 'mine' }),
        (await sessions.list()).map(({ id }) => id),
        (await sessions.messages('mine')).map(({ text }) => text),
      ],
      careless,
    );
    expect(outcome).toEqual([
      ['mine', 'also-mine'],
      ['mine'],
      ['also-mine', 'mine'],
      ['word of mine'],
    ]);
  });

  it('gives pages of one list, also where its own session is apart', async () => {
    const store = await filled();
    const { outcome } = await inCall(
      async (sessions) => {
        const pages: string[][] = [];
        for (const offset of [0, 1, 2, 3]) pages.push(await found(sessions, { offset, limit: 1 }));
        return [pages.flat(), await found(sessions)];
      },
      store,
      { sessionId: 'global' },
    );
    const [pages, all] = untyped(outcome);
    expect(pages).toEqual(all);
    expect(all).toHaveLength(3);
  });

  it('gives what a store that caps its pages has, up to the last', async () => {
    const store = await filled();
    const text = (count: number) => Array(count).fill({ role: 'user', text: 'word' });
    await store.append({ ...MINE, id: 'many' }, text(40));
    await store.append({ id: 'here', scopeId: 'global' }, text(25));
    const capped: SessionStore = {
      ...store,
      search: (query, opts) =>
        store.search(query, { ...opts, limit: Math.min(opts?.limit ?? 20, 10) }),
    };
    const { outcome } = await inCall(
      async (sessions) => {
        const places = [];
        for (let offset = 0; offset < 70; offset += 7) {
          for (const { session, message } of await sessions.search('word', { offset, limit: 7 }))
            places.push(`${session.id} ${message.sequence}`);
        }
        return [new Set(places).size, places.length, await found(sessions, { limit: 0 })];
      },
      capped,
      { sessionId: 'here' },
    );
    expect(outcome).toEqual([67, 67, []]);
  });

  it('cuts texts where that is asked for', async () => {
    const store = await filled();
    await store.append({ ...MINE, id: 'long' }, [
      { role: 'tool', text: 'ab😀cd', data: { more: 'x' } },
    ]);
    const { outcome } = await inCall(
      (sessions) => sessions.messages('long', { maxTextChars: 2 }),
      store,
    );
    expect(outcome).toEqual([expect.objectContaining({ text: 'ab', sequence: 1 })]);
    expect(JSON.stringify(outcome)).not.toContain('more');
  });

  it('shortens a long query in the journal', async () => {
    const { events } = await inCall(
      (sessions) => sessions.search('x'.repeat(10_000)),
      await filled(),
    );
    expect(events[0]?.length).toBeLessThan(300);
  });

  it('leaves no part of a secret in the journal, where a long query is cut', async () => {
    const audit = new MemoryAuditSink();
    const registry = new DefaultToolRegistry({
      sessions: await filled(),
      audit,
      secretsBackend: async () => 'hunter2-of-the-call',
    });
    registry.register(
      makeTool(
        'recalls',
        async (_args, { sessions, secretsResolver }) => {
          await sessions?.search(`${'x'.repeat(190)}${await secretsResolver?.get('api/key')}`);
          return ok('done');
        },
        { capabilities: { sessions: { access: 'read' }, secrets: ['api/key'] } },
      ),
    );
    await registry.executeParallel(
      [{ toolCallId: 'c', name: 'recalls', args: {} }],
      batchContext({ personalityId: 'coder' }),
    );
    expect(audit.events.map(({ operation }) => operation)).toEqual(['get', 'search']);
    expect(JSON.stringify(audit.events)).not.toContain('hunter');
  });

  it('is dead after its call', async () => {
    let kept: Sessions | undefined;
    await inCall(
      (sessions) => {
        kept = sessions;
      },
      await filled(),
    );
    for (const use of [kept?.search('word'), kept?.list(), kept?.messages('mine')]) {
      expect(await rejection(use ?? Promise.resolve())).toMatchObject({ code: 'CALL_ENDED' });
    }
  });
});

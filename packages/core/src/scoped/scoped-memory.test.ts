import { MemoryAuditSink } from '@ethosagent/audit';
import type {
  MemoryChange,
  MemoryProvider,
  ToolCapabilities,
  ToolContext,
} from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createInMemoryMemory } from '../in-memory-memory.js';
import { batchContext, makeTool, ok, rejection, untyped } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedMemoryImpl } from './scoped-memory.js';

const ADD: MemoryChange = { kind: 'add', section: 'Notes', text: 'Mine.' };
const READ_WRITE: ToolCapabilities = { memory: { access: 'read-write' } };

type Memory = NonNullable<ToolContext['memory']>;

/** Runs `use` in a call. Returns its result and the recorded accesses. */
async function inCall(
  use: (memory: Memory) => unknown,
  {
    capabilities = READ_WRITE,
    memory = createInMemoryMemory(),
    ctx = {},
  }: {
    capabilities?: ToolCapabilities;
    memory?: MemoryProvider;
    ctx?: Parameters<typeof batchContext>[0];
  } = {},
) {
  const audit = new MemoryAuditSink();
  const registry = new DefaultToolRegistry({ memory, audit });
  let outcome: unknown;
  registry.register(
    makeTool(
      'remembers',
      async (_args, { memory: scoped }) => {
        if (scoped === undefined) throw new Error('no memory');
        try {
          outcome = await use(scoped);
        } catch (error) {
          outcome = error;
        }
        return ok('done');
      },
      { capabilities },
    ),
  );
  await registry.executeParallel(
    [{ toolCallId: 'c', name: 'remembers', args: {} }],
    batchContext({ personalityId: 'coder', ...ctx }),
  );
  const events = audit.events.map(
    ({ capability, operation, target, decision, reason }) =>
      `${capability} ${operation} ${target} ${decision}: ${reason}`,
  );
  return { outcome, events, memory };
}

describe('ScopedMemory', () => {
  it('reads, changes, searches and lists versions of the own scope', async () => {
    const { outcome, events, memory } = await inCall(async (scoped) => {
      await scoped.change(ADD);
      await scoped.change({ kind: 'replace', match: 'Mine', text: 'Ours' });
      return [await scoped.read(), await scoped.search('ours'), await scoped.versions()];
    });
    expect(outcome).toMatchObject([
      { sections: [{ heading: 'Notes', text: 'Ours.' }] },
      [{ heading: 'Notes' }],
      [{ sections: [{ text: 'Mine.' }] }, { sections: [] }],
    ]);
    expect(await memory.read('personality:coder')).toMatchObject({ sizeChars: 10 });
    const allowed = 'personality:coder allowed: memory scope personality';
    expect(events).toEqual([
      `memory change ${allowed}`,
      `memory change ${allowed}`,
      `memory read ${allowed}`,
      `memory search ${allowed}`,
      `memory versions ${allowed}`,
    ]);
  });

  const denials: [
    what: string,
    capabilities: ToolCapabilities,
    use: (memory: Memory) => unknown,
    code: string,
    event: string,
  ][] = [
    [
      'a change by a tool that only reads',
      { memory: { access: 'read' } },
      (memory) => memory.change(ADD),
      'MEMORY_NOT_WRITABLE',
      'memory change personality:coder denied: memory is declared read-only',
    ],
    ...(['user', 'team'] as const).map((scope): (typeof denials)[number] => [
      `the memory of a ${scope} that the call has not`,
      READ_WRITE,
      (memory) => memory.read(scope),
      'MEMORY_SCOPE_NOT_AVAILABLE',
      `memory read ${scope} denied: memory scope not of the call`,
    ]),
    ...['personality:other', 'session:other', '__proto__', ''].map(
      (scope): (typeof denials)[number] => [
        `the scope ${JSON.stringify(scope)}`,
        READ_WRITE,
        (memory) => memory.change(ADD, { scope: untyped(scope) }),
        'MEMORY_SCOPE_NOT_AVAILABLE',
        `memory change ${scope} denied: memory scope not of the call`,
      ],
    ),
  ];
  it.each(denials)('denies %s', async (_what, capabilities, use, code, event) => {
    const untouched = createInMemoryMemory();
    const { outcome, events } = await inCall(use, { capabilities, memory: untouched });
    expect(outcome).toMatchObject({ code });
    expect(events).toEqual([event]);
    expect((await untouched.read('personality:coder')).sections).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'add'],
    ['an unknown kind', { kind: 'clear' }],
    ['add without a section', { kind: 'add', text: 'x' }],
    ['add of a number', { kind: 'add', section: 'A', text: 7 }],
    ['half a character', { kind: 'add', section: 'A', text: '\ud800' }],
    ['replace of nothing', { kind: 'replace', text: 'x' }],
    ['remove of an object', { kind: 'remove', match: { toString: () => 'x' } }],
  ])('refuses a change that is %s', async (_what, change) => {
    const { outcome } = await inCall((memory) => memory.change(untyped(change)));
    expect(outcome).toMatchObject({ code: 'VALUE_INVALID' });
  });

  it('hands the provider what it judged, whatever the object of the tool says later', async () => {
    let reads = 0;
    const { memory } = await inCall((scoped) =>
      scoped.change(
        untyped({
          kind: 'add',
          section: 'Notes',
          get text() {
            reads += 1;
            return reads === 1 ? 'first' : 'second';
          },
        }),
      ),
    );
    expect(await memory.read('personality:coder')).toMatchObject({ sections: [{ text: 'first' }] });
  });

  it('is dead after its call', async () => {
    let kept: Memory | undefined;
    const { events } = await inCall((memory) => {
      kept = memory;
    });
    expect(await rejection(kept?.read() ?? Promise.resolve())).toMatchObject({
      code: 'CALL_ENDED',
    });
    expect(events).toEqual([]);
  });

  it('keeps two batches at once apart', async () => {
    const memory = createInMemoryMemory();
    const names = Array.from({ length: 50 }, (_, at) => `personality-${at}`);
    await Promise.all(
      names.map((personalityId) =>
        inCall(
          async (scoped) => {
            await scoped.change({ ...ADD, text: personalityId });
            await scoped.change({ ...ADD, text: personalityId }, { scope: 'user' });
          },
          { memory, ctx: { personalityId, userScopeId: personalityId } },
        ),
      ),
    );
    for (const name of names) {
      for (const id of [`personality:${name}`, `user:${name}`]) {
        expect((await memory.read(id)).sections).toEqual([{ heading: 'Notes', text: name }]);
      }
    }
  });

  it('says which scopes there are, in a list that no tool changes', async () => {
    const { outcome } = await inCall((memory) => memory.scopes, { ctx: { teamId: 't' } });
    expect(outcome).toEqual(['personality', 'global', 'team']);
    expect(Object.isFrozen(outcome)).toBe(true);
  });

  it('by hand records nothing', async () => {
    const scoped = new ScopedMemoryImpl(createInMemoryMemory(), new Map([['global', 'global']]), {
      access: 'read',
    });
    expect(await scoped.read('global')).toMatchObject({ sections: [] });
    expect(await rejection(scoped.read())).toMatchObject({ code: 'MEMORY_SCOPE_NOT_AVAILABLE' });
  });
});

describe('describe', () => {
  it('says whose memory and sessions a call has', () => {
    const registry = new DefaultToolRegistry({});
    registry.register(
      makeTool('remembers', undefined, {
        capabilities: { memory: { access: 'read' }, sessions: { access: 'read' } },
      }),
    );
    const ctx = { sessionId: 's', personalityId: 'coder', userScopeId: 'ada' };
    expect(registry.describe('remembers', ctx)).toEqual({
      memory: { access: 'read', scopes: ['personality:coder', 'global', 'user:ada'] },
      sessions: { access: 'read', owner: { scopeId: 'personality:coder', userScopeId: 'ada' } },
    });
  });
});

it('keeps no secret of the call that changes it, and finds one that is there', async () => {
  const SECRET = 'hunter2-of-the-call';
  const memory = createInMemoryMemory();
  const registry = new DefaultToolRegistry({ memory, secretsBackend: async () => SECRET });
  const remembers = makeTool(
    'remembers',
    async (_args, ctx) => {
      const key = await ctx.secretsResolver?.get('api/key');
      await ctx.memory?.change({ kind: 'add', section: `Of ${key}`, text: `Key ${key}.` });
      await ctx.memory?.change({ kind: 'replace', section: 'Old', match: SECRET, text: `${key}!` });
      return ok('done');
    },
    { capabilities: { ...READ_WRITE, secrets: ['api/key'] } },
  );
  registry.register(remembers);
  await memory.change('personality:coder', { kind: 'add', section: 'Old', text: SECRET });
  const [answer] = await registry.executeParallel(
    [{ toolCallId: 'c', name: 'remembers', args: {} }],
    batchContext({ personalityId: 'coder' }),
  );
  expect(answer?.result).toEqual({ ok: true, value: 'done' });
  const text = JSON.stringify(await memory.read('personality:coder'));
  expect(text).toContain('Of [secret:api/key]');
  expect(text).toContain('Key [secret:api/key].');
  expect(text).toContain('[secret:api/key]!');
  expect(text).not.toContain(SECRET);
});

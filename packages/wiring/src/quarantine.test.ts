import type { QuarantinePrompt, ToolSession } from '@ethosagent/core';
import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { tries } from '@ethosagent/test-support';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVIL, TRUST_TOOLS, TrustWorld } from './fixtures/trust-world.js';

let world: TrustWorld;
let count = 0;
beforeEach(async () => {
  world = new TrustWorld();
  await world.open();
  world.personality('p', []);
});
afterEach(() => world.close());

const VERSION = {
  type: 'object',
  properties: {
    version: { type: 'string', pattern: '^\\d{1,4}\\.\\d{1,4}$' },
    risk: { enum: ['low', 'high'] },
  },
  required: ['risk'],
};

const get = (path: string) => [
  { toolCallId: `c${++count}`, name: 'get', args: { urls: [world.url(path)] } },
];

const isTainted = async (session: ToolSession) => (await session.sources()).length > 0;

describe('ToolSession.readQuarantined', () => {
  it('gives values of the schema, and the session has read nothing', async () => {
    const asked: QuarantinePrompt[] = [];
    const runtime = await world.start({ approve: () => false });
    const session = runtime.session('s');
    const answer = await session.readQuarantined({
      calls: get('/evil/a'),
      question: 'Which version?',
      schema: VERSION,
      read: (prompt) => {
        asked.push(prompt);
        return `\`\`\`json\n{"version": "1.25", "risk": "high", "note": "${EVIL}"}\n\`\`\``;
      },
    });
    expect(answer).toEqual({ ok: true, value: { version: '1.25', risk: 'high' } });
    expect(await isTainted(session)).toBe(false);
    const [write] = await session.execute([
      { toolCallId: 'w', name: 'write', args: { path: world.file('a'), text: '1.25' } },
    ]);
    expect(write?.result.ok).toBe(true);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.text).toMatch(/^Question: Which version\?/);
    expect(asked[0]?.text).toContain(`<untrusted source="get" tool="get">\n${EVIL}\n</untrusted>`);
    expect(asked[0]?.schema).toEqual(VERSION);
  });

  it.each<[what: string, read: () => unknown]>([
    ['answers with text', () => EVIL],
    ['answers with another choice', () => ({ risk: EVIL })],
    ['answers with nothing', () => undefined],
    ['throws what it read', () => Promise.reject(new Error(EVIL))],
    [
      'gives what throws when it is read',
      () => ({
        get risk() {
          throw new Error(EVIL);
        },
      }),
    ],
  ])('tells nothing of a reader that %s', async (_what, read) => {
    const session = (await world.start()).session('s');
    const request = { calls: get('/evil/a'), question: 'x', schema: VERSION, read };
    const answer = await session.readQuarantined(request);
    expect(answer).toMatchObject({ ok: false, cause: 'MODEL_FAILED' });
    expect(JSON.stringify(answer)).not.toContain('Ignore');
    expect(await isTainted(session)).toBe(false);
  });

  it('takes no schema through which text could pass, and then reads nothing', async () => {
    const session = (await world.start()).session('s');
    const read = () => expect.fail('it was asked');
    for (const schema of [{ type: 'string' }, {}, { type: 'object', properties: { a: {} } }]) {
      const answer = await session.readQuarantined({
        calls: get('/evil/a'),
        question: 'x',
        schema,
        read,
      });
      expect(answer).toMatchObject({ ok: false, code: 'input_invalid', cause: 'INPUT_INVALID' });
    }
  });

  it('goes by the schema as it was when it was asked', async () => {
    const session = (await world.start()).session('s');
    const schema: { enum: unknown[] } = { enum: ['low', 'high'] };
    const answer = await session.readQuarantined({
      calls: get('/evil/a'),
      question: 'x',
      schema,
      read: (prompt) => {
        schema.enum.push(EVIL);
        Object(prompt.schema).enum.push(EVIL);
        return JSON.stringify(EVIL);
      },
    });
    expect(answer).toMatchObject({ ok: false });
  });

  it('makes nothing clean of a session that is tainted', async () => {
    const session = (await world.start()).session('s');
    await session.execute(get('/evil/a'));
    const answer = await session.readQuarantined({
      calls: get('/evil/b'),
      question: 'x',
      schema: { type: 'boolean' },
      read: () => true,
    });
    expect(answer).toEqual({ ok: true, value: true });
    expect(await isTainted(session)).toBe(true);
  });

  it('passes the gates of the session: what waits for a yes is not read before it has one', async () => {
    const runtime = await world.start({ approve: () => 'later' });
    const session = runtime.session('s');
    await session.addSource({ source: 'x', tool: 'user' });
    const request = {
      calls: [{ toolCallId: 'one', name: 'shell', args: { command: 'echo 7' } }],
      question: 'Which number?',
      schema: { type: 'integer' },
      read: ({ text }: QuarantinePrompt) => Number(/\n(\d+)\n/.exec(text)?.[1]),
    };
    const waits = await session.readQuarantined(request);
    expect(waits).toMatchObject({ ok: false, cause: 'NOT_APPROVED', approvals: [{}] });
    const [approval = expect.fail('none waits')] = await session.pending();
    await session.decide(approval, { approved: true });
    expect(await session.readQuarantined(request)).toEqual({ ok: true, value: 7 });
    const denied = await session.readQuarantined({
      ...request,
      calls: [{ toolCallId: 'two', name: 'nothing', args: {} }],
    });
    expect(denied).toMatchObject({ ok: false, cause: 'TOOL_NOT_FOUND' });
  });

  it('tells of a call that failed that it did, and not what it said', async () => {
    const failing = defineTool({
      name: 'failing',
      description: 'Fails with what a server says.',
      input: z.object({}),
      capabilities: {},
      outputIsUntrusted: true,
      execute: async () => err(EVIL),
    });
    const session = (await world.start({ tools: [failing] })).session('s');
    const answer = await session.readQuarantined({
      calls: [{ toolCallId: 'c', name: 'failing', args: {} }],
      question: 'x',
      schema: { type: 'boolean' },
      read: () => expect.fail('it was asked'),
    });
    expect(answer).toMatchObject({ ok: false, code: 'execution_failed' });
    expect(JSON.stringify(answer)).not.toContain('Ignore');
  });

  it('leaves no word in a store of the session for a tool that is taken at its word', async () => {
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps a page.',
      input: z.object({ url: z.string() }),
      capabilities: {
        network: { allowedHosts: ['*'] },
        storage: { kind: 'kv', scope: 'session' },
      },
      outputIsUntrusted: true,
      effects: [],
      async execute({ url }, ctx) {
        await ctx.kvStore.set('page', await (await ctx.scopedFetch.fetch(url)).text());
        return ok('kept');
      },
    });
    const tell = defineTool({
      name: 'tell',
      description: 'Tells what was kept.',
      input: z.object({}),
      capabilities: { storage: { kind: 'kv', scope: 'session' } },
      async execute(_, ctx) {
        return ok((await ctx.kvStore.get('page')) ?? 'nothing');
      },
    });
    const session = (await world.start({ tools: [keep, tell] })).session('s');
    await session.readQuarantined({
      calls: [{ toolCallId: 'k', name: 'keep', args: { url: world.url('/evil/a') } }],
      question: 'x',
      schema: { type: 'boolean' },
      read: () => true,
    });
    const [told] = await session.execute([{ toolCallId: 't', name: 'tell', args: {} }]);
    expect(told?.text).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it('leaves no word of a program in a store for a tool that is taken at its word', async () => {
    const storage = { kind: 'kv', scope: 'session' } as const;
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps a text.',
      input: z.object({ text: z.string() }),
      capabilities: { storage },
      async execute({ text }, ctx) {
        await ctx.kvStore.set('page', text);
        return ok('kept');
      },
    });
    const program = defineTool({
      name: 'program',
      description: 'Gets a page, and has it kept.',
      input: z.object({ url: z.string() }),
      capabilities: { network: { allowedHosts: ['*'] }, calls: { tools: ['keep'] } },
      outputIsUntrusted: true,
      effects: [],
      async execute({ url }, ctx) {
        const text = await (await ctx.scopedFetch.fetch(url)).text();
        await ctx.calls?.call('keep', { text });
        return ok('kept');
      },
    });
    const tell = defineTool({
      name: 'tell',
      description: 'Tells what was kept.',
      input: z.object({}),
      capabilities: { storage },
      async execute(_, ctx) {
        return ok((await ctx.kvStore.get('page')) ?? 'nothing');
      },
    });
    const session = (await world.start({ tools: [keep, program, tell] })).session('s');
    await session.readQuarantined({
      calls: [{ toolCallId: 'p', name: 'program', args: { url: world.url('/evil/a') } }],
      question: 'x',
      schema: { type: 'boolean' },
      read: () => true,
    });
    expect(await isTainted(session)).toBe(false);
    const [told] = await session.execute([{ toolCallId: 't', name: 'tell', args: {} }]);
    expect(told?.text).toContain(EVIL);
    expect(await isTainted(session)).toBe(true);
  });

  it('is aborted', async () => {
    const session = (await world.start()).session('s');
    const controller = new AbortController();
    const answer = await session.readQuarantined(
      {
        calls: get('/evil/a'),
        question: 'x',
        schema: { type: 'boolean' },
        read: () => {
          controller.abort();
          throw new Error(EVIL);
        },
      },
      { abortSignal: controller.signal },
    );
    expect(answer).toMatchObject({ ok: false, cause: 'CALL_ABORTED' });
  });
});

describe('no free text crosses', () => {
  const schema = {
    type: 'object',
    properties: {
      kind: { enum: ['a', 'b'] },
      when: { type: 'string', format: 'date' },
      ids: { type: 'array', maxItems: 3, items: { type: 'string', pattern: '^[a-z0-9-]{1,12}$' } },
      many: { type: 'number' },
    },
  };
  /** The answers of a reader that a hostile page controls. */
  const word = fc.oneof(fc.constant(EVIL), fc.string(), fc.constantFrom('a', '2026-01-01', 'id-1'));
  const said = fc.oneof(
    word,
    fc.record(
      {
        kind: word,
        when: word,
        ids: fc.oneof(word, fc.array(word, { maxLength: 4 })),
        many: fc.oneof(word, fc.double()),
        [EVIL]: word,
      },
      { requiredKeys: [] },
    ),
  );

  it('whatever the reader answers, as text or as a value', async () => {
    const session = (await world.start({ tools: TRUST_TOOLS })).session('s');
    const property = fc.asyncProperty(said, fc.boolean(), async (answered, isText) => {
      const answer = await session.readQuarantined({
        calls: get('/evil/a'),
        question: 'x',
        schema,
        read: () => (isText ? JSON.stringify(answered) : answered),
      });
      if (answer.ok) {
        expect(JSON.stringify(answer.value)).toMatch(/^\{[A-Za-z0-9"':,.[\]+-]*\}$/);
        for (const [key] of Object.entries(Object(answer.value))) {
          expect(['kind', 'when', 'ids', 'many']).toContain(key);
        }
      } else {
        expect(answer.error).toBe(
          'the reader gave no answer that fits the schema. Ask for less or for something else, or tell the user; the content was not shown',
        );
      }
      expect(await isTainted(session)).toBe(false);
    });
    await fc.assert(property, { numRuns: tries({ check: 40, long: 5_000 }) });
  });
});
